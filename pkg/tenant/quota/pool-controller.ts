import { isDeepStrictEqual } from 'node:util';
import type { Tenant, TenantStatus } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { applyObject, deleteObject, isManaged, managedBy, type Target } from '../../controller/apply.ts';
import { systemClock, type Clock } from '../../controller/clock.ts';
import { Controller } from '../../controller/controller.ts';
import type { EventRecorder } from '../../controller/events.ts';
import { keyOf, onChange, splitKey, type Informer, type InformerOptions } from '../../controller/informer.ts';
import type { Log } from '../../controller/log.ts';
import { usedOf } from '../../quantity/bounds.ts';
import { tenantOf } from '../names.ts';
import { isOurs } from '../ownership.ts';
import { budgetOf, quotasOf } from './budget.ts';
import { BudgetTree, type Budget, type UseOf } from './budget-tree.ts';
import { allocatedTo, overcommitments, poolsOf, type Pool, type PoolSettings } from './pools.ts';
import { quotaStatus } from './quota-status.ts';

/** Name of the ResourceQuota that holds a namespace to what the others leave of a shared pool. */
export const allocatedName = 'tenant-quota-allocated';

/** core/v1 ResourceQuota, as far as it is looked at. */
export interface UsedQuota extends KubeObject {
  spec?: { hard?: Record<string, string> };
  status?: { used?: Record<string, string> };
}

export const quotaInformer: InformerOptions<UsedQuota> = {
  indexes: { namespace: ({ metadata }) => [metadata.namespace!] },
  keep: ({ apiVersion, kind, metadata, spec, status }) => ({ apiVersion, kind, metadata, spec: { hard: spec?.hard }, status: { used: status?.used } }),
};

export interface PoolControllerOptions {
  caches: { tenants: Informer<Tenant>; namespaces: Informer; quotas: Informer<UsedQuota> };
  /** Where ResourceQuotas are written. */
  target: Target;
  events: Pick<EventRecorder, 'record'>;
  settings: PoolSettings;
  log: Log;
  workers?: number;
  clock?: Clock;
}

/** How long a pool waits for more to happen before it is looked at again, whatever its size, and for each namespace in it. */
const restMs = 1000;
const restPerNamespaceMs = 20;

/**
 * Holds the namespaces that share a pool to what there is. Keys are `pool <tenant>` (what the pools of a tenant have) and
 * `namespace <name>` (what that leaves the namespace). Use changes all the time: each pool is looked at once in a while.
 */
export class PoolController {
  readonly controller: Controller;
  readonly #options: PoolControllerOptions;
  /** As they were when last looked at, by tenant; where there is none yet, it is going to be looked at. */
  readonly #pools = new Map<string, Map<string, Pool>>();
  /** Keys that are overcommitted, by tenant. */
  readonly #overcommitted = new Map<string, string>();
  readonly #subscribers: ((tenant: string) => void)[] = [];
  #tree: BudgetTree | undefined;

  constructor(options: PoolControllerOptions) {
    this.#options = options;
    const { caches, log, workers, clock = systemClock } = options;
    const reconcile = (key: string): Promise<void> => {
      const [kind, name] = key.split(' ') as [string, string];
      return kind === 'pool' ? this.#reconcilePool(name) : this.#reconcileNamespace(name);
    };
    this.controller = new Controller({ name: 'tenant-pools', informers: Object.values(caches), reconcile, workers, log, clock });
    const changed = (tenant: Tenant): void => {
      this.#tree = undefined;
      this.#add(keyOf(tenant));
      const budget = budgetOf(tenant);
      if (!budget) return;
      this.#look(budget.parentNamespace);
      this.controller.queue.add(`namespace ${budget.namespace}`);
    };
    caches.tenants.subscribe(onChange(changed, quotasOf));
    const made = ({ metadata: { name } }: KubeObject): void => this.controller.queue.add(`namespace ${name}`);
    caches.namespaces.subscribe(onChange(made, ({ metadata }) => metadata.labels));
    const counted = (quota: UsedQuota): void => {
      const namespace = quota.metadata.namespace!;
      if (quota.metadata.name === allocatedName) this.controller.queue.add(`namespace ${namespace}`);
      this.#look(namespace);
    };
    caches.quotas.subscribe(onChange(counted, ({ spec, status }) => [spec, status]));
  }

  get seen(): Pick<Informer, 'settled'> {
    return this.#options.caches.quotas;
  }

  /** Tells of each Tenant, by key, whose pools are no longer what they were. */
  subscribe(tell: (tenant: string) => void): void {
    this.#subscribers.push(tell);
  }

  /** What the status of a Tenant tells of its budget. */
  quotaOf(tenant: Tenant): Pick<TenantStatus, 'quota' | 'remaining'> {
    return quotaStatus(this.#lookAt(tenant));
  }

  /** Has the pools looked at that a namespace draws on, once it is time. */
  #look(namespace: string): void {
    for (const head of this.#headsOf(namespace)) this.#add(head.tenant);
  }

  #add(tenant: string): void {
    const namespaces = Math.max(0, ...Array.from(this.#pools.get(tenant)?.values() ?? [], (pool) => pool.namespaces.length));
    this.controller.queue.addAfter(`pool ${tenant}`, restMs + restPerNamespaceMs * namespaces);
  }

  /** The tenants, from a namespace's own upwards, that bound something which nobody below them does. */
  #headsOf(namespace: string): { tenant: string; budget: Budget; resources: string[] }[] {
    const heads: { tenant: string; budget: Budget; resources: string[] }[] = [];
    const bounded = new Set<string>();
    for (let at: string | undefined = namespace; at !== undefined; ) {
      const budget: Budget | undefined = this.#budgetOf(at);
      const resources = Array.from(budget?.limits.keys() ?? []).filter((resource) => !bounded.has(resource));
      if (budget && resources.length > 0) heads.push({ tenant: budget.tenant, budget, resources });
      for (const resource of resources) bounded.add(resource);
      at = budget && budget.parentNamespace !== budget.namespace ? budget.parentNamespace : undefined;
    }
    return heads;
  }

  #tenant(key: string): Tenant | undefined {
    const { namespace, name } = splitKey(key);
    return this.#options.caches.tenants.get(namespace, name);
  }

  /** Of the tenant that a namespace belongs to. */
  #budgetOf(namespace: string): Budget | undefined {
    const key = tenantOf(namespace);
    const tenant = key && this.#options.caches.tenants.get(key.namespace, key.name);
    return tenant && budgetOf(tenant);
  }

  readonly #useOf: UseOf = (namespace, resource) => usedOf(this.#options.caches.quotas.byIndex('namespace', namespace), resource);

  #lookAt(tenant: Tenant): Map<string, Pool> {
    const budget = budgetOf(tenant);
    if (!budget || budget.limits.size === 0) return new Map();
    this.#tree ??= new BudgetTree(this.#options.caches.tenants.list().flatMap((each) => budgetOf(each) ?? []));
    return poolsOf(this.#tree, budget, quotasOf(tenant), this.#useOf, this.#options.settings);
  }

  async #reconcilePool(key: string): Promise<void> {
    const tenant = this.#tenant(key);
    const before = this.#pools.get(key) ?? new Map<string, Pool>();
    const pools = tenant ? this.#lookAt(tenant) : new Map<string, Pool>();
    if (pools.size > 0) this.#pools.set(key, pools);
    else this.#pools.delete(key);
    if (!isDeepStrictEqual(before, pools)) {
      const namespaces = new Set([...before.values(), ...pools.values()].flatMap((pool) => pool.namespaces));
      for (const namespace of namespaces) this.controller.queue.add(`namespace ${namespace}`);
      for (const tell of this.#subscribers) tell(key);
    }
    await this.#warn(key, pools);
  }

  async #warn(key: string, pools: ReadonlyMap<string, Pool>): Promise<void> {
    const found = overcommitments(pools);
    const keys = found.map((each) => each.key).join();
    const before = this.#overcommitted.get(key) ?? '';
    if (keys === '') this.#overcommitted.delete(key);
    else this.#overcommitted.set(key, keys);
    const tenant = this.#tenant(key);
    if (keys === '' || keys === before || !tenant) return;
    const note = `More is promised or in use than there is: ${found.map((each) => each.note).join('; ')}`;
    await this.#options.events.record(tenant, { type: 'Warning', reason: 'QuotaOvercommitted', action: 'Allocate', note });
  }

  async #reconcileNamespace(namespace: string): Promise<void> {
    const { caches, target } = this.#options;
    const live = caches.quotas.get(namespace, allocatedName);
    const hard = this.#mayWrite(namespace) ? allocatedTo(namespace, this.#drawnOn(namespace)) : undefined;
    if (hard) {
      const { result } = await applyObject(target, allocatedQuota(namespace, hard), live, isManaged);
      if (result === 'refused') this.#options.log.warn({ namespace, name: allocatedName }, 'a ResourceQuota of this name was made by somebody else and is left alone: it is in the way of the shared budget');
    } else if (live && isManaged(live) && !live.metadata.deletionTimestamp) await deleteObject(target, live);
  }

  /** Only into a namespace that is there, and that was made for its tenant. */
  #mayWrite(name: string): boolean {
    const key = tenantOf(name);
    const tenant = key && this.#options.caches.tenants.get(key.namespace, key.name);
    const namespace = this.#options.caches.namespaces.get('', name);
    return tenant !== undefined && namespace !== undefined && !namespace.metadata.deletionTimestamp && isOurs(namespace, tenant);
  }

  *#drawnOn(namespace: string): Iterable<Pool> {
    for (const { tenant, resources } of this.#headsOf(namespace)) {
      for (const resource of resources) {
        const pool = this.#pools.get(tenant)?.get(resource);
        if (pool?.namespaces.includes(namespace)) yield pool;
      }
    }
  }
}

const allocatedQuota = (namespace: string, hard: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: {
    name: allocatedName,
    namespace,
    labels: { ...managedBy, 'quota.cozystack.io/managed-by': 'tenant-quota-controller', 'internal.cozystack.io/managed-by-cozystack': '' },
  },
  spec: { hard },
});
