import assert from 'node:assert/strict';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { controllerOf } from '../controller/apply.ts';
import { Informer } from '../controller/informer.ts';
import { silentLog } from '../controller/log.ts';
import { ManualClock } from '../controller/manual-clock.ts';
import { namespaceInformer } from '../gateway/observe.ts';
import { tenantController } from './controller.ts';
import { FakeCollection } from './fake-cluster.ts';
import { deletionPolicyAnnotation } from './marks.ts';
import { releaseStatus } from './modules.ts';
import { namespaceOf, tenantOf } from './names.ts';
import { releaseInformer, tenantInformer, type EndpointSlice } from './observe.ts';
import { partInformer, partKinds, type PartCaches, type PartKind } from './part.ts';
import { defaultTenantSettings } from './settings.ts';

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** The tenants' controller on a cluster that is as much of one as it can tell, with a clock of its own. For tests. */
export const started = async () => {
  let version = 1;
  const newVersion = (): string => String((version += 1));
  const [tenants, namespaces, gateways] = ['tenant', 'namespace', 'gateway'].map((name) => new FakeCollection(name, newVersion)) as [FakeCollection, FakeCollection, FakeCollection];
  const clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
  namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-root', labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' }, finalizers: ['kubernetes'] } });
  const partCollections = Object.fromEntries(partKinds.map((what) => [what, new FakeCollection(what, newVersion)])) as Record<PartKind, FakeCollection>;
  const made = Object.values(partCollections);
  const caches = {
    tenants: new Informer<Tenant>(tenants.source, tenantInformer),
    namespaces: new Informer(namespaces.source, namespaceInformer),
    gateways: new Informer<TenantGateway>(gateways.source),
    parts: Object.fromEntries(partKinds.map((what) => [what, new Informer(partCollections[what].source, partInformer(what === 'module' ? releaseStatus : undefined))])) as PartCaches,
    releases: new Informer(partCollections.module.source, releaseInformer),
    apiServer: new Informer<EndpointSlice>(new FakeCollection('endpointslice', newVersion).source),
  };
  const events: string[] = [];
  const controller = tenantController({
    caches,
    targets: { tenants, namespace: namespaces, gateway: gateways, parts: partCollections },
    settings: defaultTenantSettings,
    events: { record: async ({ metadata }, { reason }) => void events.push(`${metadata.name} ${reason}`) },
    log: silentLog,
    clock,
  });
  for (const informer of [caches.tenants, caches.namespaces, caches.gateways, caches.releases, caches.apiServer, ...Object.values(caches.parts)]) informer.start();
  void controller.start();

  /** The namespace controller: empties what ends, then lets it go. */
  const sweep = (): void => {
    for (const namespace of namespaces.objects.values()) {
      const { name, deletionTimestamp } = namespace.metadata;
      if (!deletionTimestamp) {
        if (!namespace.metadata.finalizers?.length) namespaces.put({ ...namespace, metadata: { ...namespace.metadata, finalizers: ['kubernetes'] } });
        continue;
      }
      const inside = [tenants, gateways, ...made].flatMap((collection) => [...collection.objects.values()].filter((object) => object.metadata.namespace === name).map((object) => ({ collection, object })));
      for (const { collection, object } of inside) collection.end(object);
      if (inside.length === 0) namespaces.put({ ...namespace, metadata: { ...namespace.metadata, finalizers: [] } });
    }
    // The garbage collector: what was in another namespace goes with its owner.
    for (const collection of made) {
      for (const object of collection.objects.values()) {
        const owner = controllerOf(object);
        if (owner && ![...namespaces.objects.values()].some(({ metadata }) => metadata.uid === owner.uid)) collection.end(object);
      }
    }
  };
  const settle = async (): Promise<void> => {
    for (let round = 0, before = ''; before !== String(version); round += 1) {
      assert.ok(round < 50, 'it does not come to rest');
      before = String(version);
      await clock.advance(61_000);
      sweep();
    }
  };
  await settle();
  const set = (namespace: string, name: string, spec: object, annotations: Record<string, string> = {}): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    const above = tenantOf(namespace);
    // Nothing is put below a tenant that is going: it would wait for it.
    if (found?.metadata.deletionTimestamp || (above && tenants.objects.get(`${above.namespace}/${above.name}`)?.metadata.deletionTimestamp)) return;
    tenants.put(found ? { ...found, metadata: { ...found.metadata, annotations }, spec } : { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name, annotations }, spec });
  };
  /** Deletes a tenant and all below it, in no particular order. */
  const removeTree = (namespace: string, name: string): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    if (!found) return;
    tenants.end(found);
    const own = namespaceOf(namespace, name);
    for (const { metadata } of tenants.objects.values()) if (metadata.namespace === own && metadata.name !== name) removeTree(own, metadata.name!);
  };
  /** Deletes a tenant alone, which takes those below with it. */
  const cascade = (namespace: string, name: string): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    if (!found || found.metadata.deletionTimestamp) return;
    tenants.end(tenants.put({ ...found, metadata: { ...found.metadata, annotations: { [deletionPolicyAnnotation]: 'cascade' } } }));
  };
  /** All that can be seen, uids and versions aside. */
  const seen = () => ({
    tenants: Object.fromEntries(
      [...tenants.objects].toSorted(byKey).map(([key, { metadata, status }]) => {
        const { host, gateway, conditions } = (status ?? {}) as { host?: string; gateway?: string; conditions?: { reason: string }[] };
        return [key, { finalizers: metadata.finalizers, host, gateway, says: conditions?.map(({ reason }) => reason) }];
      }),
    ),
    namespaces: Object.fromEntries(
      [...namespaces.objects].toSorted(byKey).map(([key, { metadata }]) => [key, { ...metadata.labels, ...(metadata.labels?.['tenant.cozystack.io/uid'] && { 'tenant.cozystack.io/uid': '' }) }]),
    ),
    gateways: [...gateways.objects].toSorted(byKey).map(([key, { spec }]) => [key, spec]),
    parts: made.map(({ objects }) => [...objects].toSorted(byKey).map(([key, { metadata, ...content }]) => [key, { ...content, labels: { ...metadata.labels, 'tenant.cozystack.io/uid': '' } }])),
  });
  const writes = (): string[] => [tenants, namespaces, gateways, ...made].flatMap((collection) => collection.writes.splice(0));
  return { tenants, namespaces, gateways, parts: partCollections, events, set, removeTree, cascade, settle, seen, writes, advance: (ms: number) => clock.advance(ms), stop: () => controller.stop() };
};
