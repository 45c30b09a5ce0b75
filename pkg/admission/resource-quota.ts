import type { KubeClient } from '../kube/client.ts';
import { Reflector } from '../kube/reflector.ts';
import { ifFound, StatusError } from '../kube/status-error.ts';
import { usedOf } from '../quantity/bounds.ts';
import type { Quantity } from '../quantity/quantity.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './chain.ts';
import { charge, type ResourceQuota } from './quota-charge.ts';
import { QuotaPlaces, type QuotaStatus } from './quota-places.ts';

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
  /** By uid, of quotas that were charged. */
  readonly #places = new Map<string, QuotaPlaces>();

  constructor(client: KubeClient, onError: (error: unknown) => void) {
    this.#client = client;
    this.#reflector = new Reflector<ResourceQuota>(
      { client, path: '/api/v1/resourcequotas', onError },
      {
        replace: (items) => {
          this.#quotas = new Map();
          for (const item of items) this.#keep(item);
          const uids = new Set(items.map(({ metadata }) => metadata.uid));
          for (const uid of this.#places.keys()) if (!uids.has(uid)) this.#places.delete(uid);
        },
        event: (type, item) => {
          if (type !== 'DELETED') return this.#keep(item);
          this.#quotas?.get(item.metadata.namespace!)?.delete(item.metadata.name!);
          this.#places.delete(item.metadata.uid!);
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

  /**
   * How much of a resource is in use in a namespace: the most that any of its quotas tells.
   * @throws StatusError 503 before all quotas were seen
   */
  used(namespace: string, resource: string): Quantity {
    return usedOf(this.#seen().get(namespace)?.values() ?? [], resource);
  }

  handles({ operation }: Pick<AdmissionAttributes, 'operation'>): boolean {
    return operation === 'CREATE';
  }

  /** @throws StatusError 403 where a quota is used up, 503 before all quotas were seen */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const quotas = Array.from(this.#seen().get(attributes.namespace)?.values() ?? []).filter((quota) => charge(attributes, quota)); // all refuse before one is written
    if (attributes.dryRun) return;
    for (const quota of quotas) {
      const giveBack = await this.#placesIn(quota).take(attributes);
      if (giveBack) attributes.undo.push(giveBack);
    }
  }

  #seen(): ReadonlyMap<string, ReadonlyMap<string, ResourceQuota>> {
    if (!this.#quotas) throw StatusError.unavailable('the resource quotas are being read; try again');
    return this.#quotas;
  }

  #placesIn({ metadata }: ResourceQuota): QuotaPlaces {
    const uid = metadata.uid!;
    let places = this.#places.get(uid);
    if (!places) this.#places.set(uid, (places = new QuotaPlaces(this.#statusOf(uid, metadata.namespace!, metadata.name!))));
    return places;
  }

  #statusOf(uid: string, namespace: string, name: string): QuotaStatus {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/resourcequotas/${encodeURIComponent(name)}`;
    return {
      known: () => {
        const quota = this.#quotas?.get(namespace)?.get(name);
        return quota?.metadata.uid === uid ? quota : undefined;
      },
      read: () => ifFound(this.#client.json<ResourceQuota>({ path })),
      write: async (quota) => {
        const written = await this.#client.json<ResourceQuota>({ method: 'PUT', path: `${path}/status`, body: quota });
        this.#keep(written);
        return written;
      },
    };
  }

  #keep(quota: ResourceQuota): void {
    const { namespace = '', name = '' } = quota.metadata;
    const ofNamespace = this.#quotas?.get(namespace) ?? new Map<string, ResourceQuota>();
    const held = ofNamespace.get(name);
    if (held?.metadata.uid === quota.metadata.uid && versionOf(held!) > versionOf(quota)) return; // what was written here is told late by the watch
    ofNamespace.set(name, quota);
    this.#quotas?.set(namespace, ofNamespace);
  }
}

const versionOf = ({ metadata }: ResourceQuota): number => Number(metadata.resourceVersion);
