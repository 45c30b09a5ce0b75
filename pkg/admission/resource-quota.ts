import type { GroupVersionKind, KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { Reflector } from '../kube/reflector.ts';
import { hasCode, StatusError } from '../kube/status-error.ts';
import { add, exceeds, formatQuantity, parseQuantity, type Quantity } from '../quantity/quantity.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './chain.ts';

/** core/v1 ResourceQuota, as far as it is looked at. */
export interface ResourceQuota extends KubeObject {
  spec?: { scopes?: string[]; scopeSelector?: object };
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
}

const attempts = 5;

/**
 * Enforces `count/<plural>.<group>` of ResourceQuotas, which the kube-apiserver counts for aggregated resources and does not
 * enforce. As its own admission does, it takes each new object's place in the quota's status before the object is written, at the
 * very version of the quota that it looked at: no more are let in than there is room for, however many replicas do so at once.
 * A place that is taken for a write that fails is given back, at the latest by the quota controller, which counts what there is.
 */
export class ResourceQuotaAdmission implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  readonly #client: KubeClient;
  readonly #reflector: Reflector<ResourceQuota>;
  /** By namespace and name; undefined until all were seen. */
  #quotas: Map<string, Map<string, ResourceQuota>> | undefined;

  constructor(client: KubeClient, onError: (error: unknown) => void) {
    this.#client = client;
    this.#reflector = new Reflector<ResourceQuota>(
      { client, path: '/api/v1/resourcequotas', onError },
      {
        replace: (items) => {
          this.#quotas = new Map();
          for (const item of items) this.#keep(item);
        },
        event: (type, item) => {
          if (type === 'DELETED') this.#quotas?.get(item.metadata.namespace!)?.delete(item.metadata.name!);
          else this.#keep(item);
        },
      },
    );
  }

  start(): void {
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  handles({ operation }: Pick<AdmissionAttributes, 'operation'>): boolean {
    return operation === 'CREATE';
  }

  /** @throws StatusError 403 where a quota is used up, 503 before all quotas were seen */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!this.#quotas) throw StatusError.unavailable('the resource quotas are being read; try again');
    const quotas = Array.from(this.#quotas.get(attributes.namespace)?.values() ?? []); // which a charge changes
    for (const quota of quotas) await this.#charge(attributes, quota);
  }

  async #charge(attributes: AdmissionAttributes, seen: ResourceQuota): Promise<void> {
    let quota = seen;
    for (let attempt = 1; ; attempt += 1) {
      const charged = charge(attributes, quota);
      if (!charged || attributes.dryRun) return;
      try {
        const written = await this.#write(charged);
        attributes.undo.push(() => this.#giveBack(written, quota.status));
        return;
      } catch (error) {
        if (hasCode(error, 404)) return; // the quota is gone, and asks for nothing
        if (!hasCode(error, 409) || attempt === attempts) throw error;
      }
      const live = await this.#client.json<ResourceQuota>({ path: pathOf(quota) }).catch((error: unknown) => {
        if (hasCode(error, 404)) return undefined;
        throw error;
      });
      if (!live) return;
      quota = live;
    }
  }

  /** Only if nobody has written since: somebody who counted anew has given the place back already. */
  async #giveBack(written: ResourceQuota, status: ResourceQuota['status']): Promise<void> {
    await this.#write({ ...written, status });
  }

  /** The status of a quota, at the version that it has. */
  async #write(quota: ResourceQuota): Promise<ResourceQuota> {
    const written = await this.#client.json<ResourceQuota>({ method: 'PUT', path: `${pathOf(quota)}/status`, body: quota });
    this.#keep(written);
    return written;
  }

  #keep(quota: ResourceQuota): void {
    const { namespace = '', name = '' } = quota.metadata;
    const ofNamespace = this.#quotas?.get(namespace) ?? new Map<string, ResourceQuota>();
    ofNamespace.set(name, quota);
    this.#quotas?.set(namespace, ofNamespace);
  }
}

const pathOf = ({ metadata: { namespace, name } }: KubeObject): string => `/api/v1/namespaces/${encodeURIComponent(namespace!)}/resourcequotas/${encodeURIComponent(name!)}`;

type Charged = Pick<AdmissionAttributes, 'resource' | 'name'> & { kind: Pick<GroupVersionKind, 'group'> };

/**
 * The quota with one more of the resource in use, or undefined where it says nothing of it.
 * @throws StatusError 403 where there is no room, in the kube-apiserver's words
 */
export const charge = ({ resource, name, kind: { group } }: Charged, quota: ResourceQuota): ResourceQuota | undefined => {
  const counted = `count/${resource}.${group}`;
  const { hard, used } = quota.status ?? {};
  const limit = hard?.[counted];
  if (limit === undefined || quota.spec?.scopes?.length || quota.spec?.scopeSelector) return undefined; // scopes are of pods
  const inUse = used?.[counted];
  if (inUse === undefined) throw StatusError.forbidden({ group, resource }, name, `status unknown for quota: ${quota.metadata.name}, resources: ${counted}`);
  const counting = parseQuantity(inUse);
  if (!hasRoom(counting, limit)) {
    throw StatusError.forbidden({ group, resource }, name, `exceeded quota: ${quota.metadata.name}, requested: ${counted}=1, used: ${counted}=${inUse}, limited: ${counted}=${limit}`);
  }
  return { ...quota, status: { ...quota.status, used: { ...used, [counted]: formatQuantity(add(counting, one)) } } };
};

const one = parseQuantity(1)!;

/** What cannot be read leaves no room. */
const hasRoom = (inUse: Quantity | undefined, limit: string): inUse is Quantity => {
  const most = parseQuantity(limit);
  return inUse !== undefined && most !== undefined && !exceeds(add(inUse, one), most);
};
