import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeList, KubeObject } from '../../api/meta/v1/types.ts';
import { eventually } from '../poll.ts';
import { clientsOf, create, find, patch, tenantNamed, tenantPath, tenantRecordPath, Watch, type Clients } from './client.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';

/** How long the collector may take: it looks every 30 s for kinds that are new, as ours are where a cluster has just begun. */
export const collectorPatience = { withinMs: 90_000 };

/** A cluster whose garbage collector is watched: Tenants, and ConfigMaps of the same names that they own. */
export class CollectorWorld {
  readonly cluster: Cluster;
  readonly clients: Clients;
  readonly namespace: string;
  #probes = 0;

  static async start(): Promise<CollectorWorld> {
    const cluster = await ownCluster();
    const world = new CollectorWorld(cluster, await clientsOf(cluster), await makeNamespace(cluster, 'gc'));
    await world.collectorIsCurrent();
    return world;
  }

  private constructor(cluster: Cluster, clients: Clients, namespace: string) {
    this.cluster = cluster;
    this.clients = clients;
    this.namespace = namespace;
  }

  async stop(): Promise<void> {
    this.clients.close();
    await this.cluster.server.stop();
    await this.cluster.controlPlane.stop();
  }

  configMapPath(name?: string): string {
    return `/api/v1/namespaces/${this.namespace}/configmaps${name ? `/${name}` : ''}`;
  }

  /** A Tenant and a ConfigMap of the same name that it owns. */
  async pair(name: string): Promise<{ owner: KubeObject; owned: KubeObject }> {
    const { front } = this.clients;
    const owner = await create(front, tenantPath(this.namespace), tenantNamed(name));
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, blockOwnerDeletion: true }];
    return { owner, owned: await create(front, this.configMapPath(), { metadata: { name, ownerReferences } }) };
  }

  deleteTenant(name: string, propagationPolicy: string): Promise<unknown> {
    return this.clients.front.json({ method: 'DELETE', path: tenantPath(this.namespace, name), query: { propagationPolicy } });
  }

  isGone(path: string): () => Promise<boolean> {
    return async () => (await find(this.clients.front, path)) === undefined;
  }

  /** Resolves when the collector has seen all that was done before: it collects what was made and orphaned after that. */
  async collectorIsCurrent(): Promise<void> {
    const name = `probe${(this.#probes += 1)}`;
    await eventually('a pair can be made', () => this.pair(name).then(() => true));
    await eventually('the probe can be deleted', () => this.deleteTenant(name, 'Background').then(() => true));
    await eventually('the collector works', this.isGone(this.configMapPath(name)), collectorPatience);
  }

  /** Changes a Tenant all the time, and fails where anybody else writes to it or to the ConfigMap that it owns. */
  async churn(name: string, seconds: number): Promise<void> {
    const { clients: { front }, namespace } = this;
    const owned = await find(front, this.configMapPath(name));
    const { resourceVersion } = (await front.json<KubeList>({ path: tenantRecordPath(namespace) })).metadata;
    const seen = await Watch.open(front, tenantRecordPath(namespace), { resourceVersion, fieldSelector: `metadata.name=${name}` });
    const acknowledged: string[] = [];
    const until = Date.now() + seconds * 1000;
    // labels leave the generation alone, and so give the loop nothing to write
    for (let count = 1; Date.now() < until; count += 1) {
      acknowledged.push((await patch(front, tenantPath(namespace, name), { metadata: { labels: { count: String(count) } } })).metadata.resourceVersion!);
      await sleep(20);
    }
    await this.collectorIsCurrent();
    await eventually('the last write was seen', () => seen.events.some(({ object }) => object.metadata.resourceVersion === acknowledged.at(-1)));
    seen.close();
    const known = new Set(acknowledged);
    const others = seen.events.filter(({ object }) => !known.has(object.metadata.resourceVersion!));
    console.log(`      ${acknowledged.length} writes, ${others.length} of others`);
    assert.deepEqual(others, []);
    assert.deepEqual(await find(front, this.configMapPath(name)), owned);
  }
}
