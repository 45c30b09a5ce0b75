import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { UserInfo } from '../../authentication/user.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { Store } from '../../storage/store.ts';
import { isRoot, tenantOf } from '../../tenant/names.ts';
import { lineOf } from '../../tenant/observe.ts';

/** The tree of tenants as a cache knows it, which may be a moment late, as the kube-apiserver's own admission plugins are. */
export class TenantTree {
  readonly #store: Pick<Store, 'cache'>;

  constructor(store: Pick<Store, 'cache'>) {
    this.#store = store;
  }

  /** Whether it knows all tenants. */
  get complete(): boolean {
    return this.#store.cache.complete;
  }

  /** @throws StatusError 503 where not all tenants are known: a rule that cannot be judged refuses */
  assertComplete(): void {
    if (!this.complete) throw StatusError.unavailable('the tenants around this one are not known yet; try again');
  }

  get(namespace: string, name: string): Tenant | undefined {
    return this.#store.cache.get(namespace, name)?.object as Tenant | undefined;
  }

  /** The Tenant that a namespace belongs to. */
  of(namespace: string): Tenant | undefined {
    const key = tenantOf(namespace);
    return key && this.get(key.namespace, key.name);
  }

  /** The Tenant that a namespace belongs to, and those above it, root last. */
  lineOf(namespace: string): Tenant[] {
    const first = this.of(namespace);
    return first ? lineOf(first, (place) => this.of(place)) : [];
  }

  /** Tenants in a namespace; root, which lives in its own, is below nobody. */
  in(namespace: string): Tenant[] {
    return Array.from(this.#store.cache.list(namespace), ({ object }) => object as unknown as Tenant).filter(({ metadata }) => !isRoot(namespace, metadata.name!));
  }

  *all(): Iterable<Tenant> {
    for (const { object } of this.#store.cache.list()) yield object as unknown as Tenant;
  }
}

/** The garbage collector and the namespace controller: whatever they were refused here, they would do to the record. The loop sees to order. */
const clusterControllers = ['system:serviceaccount:kube-system:generic-garbage-collector', 'system:serviceaccount:kube-system:namespace-controller', 'system:kube-controller-manager'];

export const isClusterController = ({ username }: Pick<UserInfo, 'username'>): boolean => clusterControllers.includes(username);
