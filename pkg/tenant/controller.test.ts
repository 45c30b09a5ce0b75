import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { controllerOf } from '../controller/apply.ts';
import { Informer } from '../controller/informer.ts';
import { silentLog } from '../controller/log.ts';
import { ManualClock } from '../controller/manual-clock.ts';
import { namespaceInformer } from '../gateway/observe.ts';
import { StatusError } from '../kube/status-error.ts';
import { tenantController } from './controller.ts';
import { FakeCollection } from './fake-cluster.ts';
import { namespaceOf, tenantOf } from './names.ts';
import { tenantInformer, type EndpointSlice } from './observe.ts';
import { partInformer, partKinds, type PartCaches, type PartKind } from './part.ts';
import { defaultTenantSettings } from './settings.ts';

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

const started = async () => {
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
    parts: Object.fromEntries(partKinds.map((what) => [what, new Informer(partCollections[what].source, partInformer)])) as PartCaches,
    apiServer: new Informer<EndpointSlice>(new FakeCollection('endpointslice', newVersion).source),
  };
  const events: string[] = [];
  const controller = tenantController({
    caches,
    targets: { tenants, status: tenants, namespace: namespaces, gateway: gateways, parts: partCollections },
    settings: defaultTenantSettings,
    events: { record: async ({ metadata }, { reason }) => void events.push(`${metadata.name} ${reason}`) },
    log: silentLog,
    clock,
  });
  for (const informer of [caches.tenants, caches.namespaces, caches.gateways, caches.apiServer, ...Object.values(caches.parts)]) informer.start();
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
  const set = (namespace: string, name: string, spec: object): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    const above = tenantOf(namespace);
    // Nothing is put below a tenant that is going: it would wait for it.
    if (found?.metadata.deletionTimestamp || (above && tenants.objects.get(`${above.namespace}/${above.name}`)?.metadata.deletionTimestamp)) return;
    tenants.put(found ? { ...found, spec } : { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name }, spec });
  };
  /** Deletes a tenant and all below it, in no particular order. */
  const removeTree = (namespace: string, name: string): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    if (!found) return;
    tenants.end(found);
    const own = namespaceOf(namespace, name);
    for (const { metadata } of tenants.objects.values()) if (metadata.namespace === own && metadata.name !== name) removeTree(own, metadata.name!);
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
  return { tenants, namespaces, gateways, parts: partCollections, events, set, removeTree, settle, seen, writes, advance: (ms: number) => clock.advance(ms), stop: () => controller.stop() };
};

describe('tenantController', () => {
  it('writes what is needed for a new tenant, and then nothing', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { host: 'example.org' });
    world.set('tenant-root', 'acme', { gateway: true });
    await world.settle();
    const written = world.writes().filter((write) => write.includes('acme')).toSorted();
    const parts = Object.entries(world.parts).flatMap(([what, { objects }]) => [...objects.keys()].filter((key) => key.startsWith('tenant-acme')).map((key) => `apply ${what} ${key}`));
    assert.ok(parts.length > 0);
    assert.deepEqual(written, ['apply gateway tenant-acme/cozystack', 'apply namespace tenant-acme', 'apply status tenant tenant-root/acme', 'update tenant tenant-root/acme', ...parts].toSorted());
    assert.deepEqual(world.events.toSorted(), ['acme Reconciled', 'root Reconciled']);
    await world.settle();
    assert.deepEqual(world.writes(), []);
  });

  it('tells a tenant what keeps the gateway that it uses from serving its host, and no other tenant', async () => {
    const world = await started();
    world.set('tenant-root', 'acme', { host: 'acme.test', gateway: true });
    world.set('tenant-acme', 'shop', { host: 'shop.test' });
    world.set('tenant-acme', 'dev', {});
    await world.settle();
    const covered = (namespace: string, name: string): string | undefined =>
      (world.tenants.objects.get(`${namespace}/${name}`)!.status as Tenant['status'])?.conditions?.find(({ type }) => type === 'HostCovered')?.reason;
    assert.deepEqual([covered('tenant-acme', 'shop'), covered('tenant-acme', 'dev'), covered('tenant-root', 'acme')], ['CertificatePerHost', 'CertificatePerHost', undefined]);
    const gateway = world.gateways.objects.get('tenant-acme/cozystack')!;
    const listeners = ['shop.test', 'dev.acme.test'].map((apex) => ({ name: apex, hostname: `*.${apex}`, ready: true, certificateName: 'tls', certificate: { ready: apex !== 'shop.test' } }));
    world.writes();
    world.gateways.put({ ...gateway, spec: { apex: 'acme.test', certMode: 'dns01' }, status: { listeners } });
    await world.settle();
    assert.deepEqual([covered('tenant-acme', 'shop'), covered('tenant-acme', 'dev')], ['CertificateNotReady', 'Covered']);
    world.set('tenant-root', 'acme', { host: 'acme.test' });
    await world.settle();
    assert.deepEqual([covered('tenant-acme', 'shop'), covered('tenant-acme', 'dev')], [undefined, undefined]);
  });

  it('repairs a label that was changed by hand with one write', async () => {
    const world = await started();
    world.set('tenant-root', 'acme', { host: 'acme.test' });
    world.set('tenant-acme', 'dev', {});
    await world.settle();
    world.writes();
    const namespace = world.namespaces.objects.get('tenant-acme')!;
    world.namespaces.put({ ...namespace, metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, 'namespace.cozystack.io/host': 'evil.test' } } });
    await world.settle();
    assert.deepEqual(world.writes(), ['apply namespace tenant-acme']);
  });

  it('repairs a part that was changed, unmarked or deleted by hand with one write', async () => {
    const world = await started();
    world.set('tenant-root', 'acme', {});
    await world.settle();
    world.writes();
    const { roleBinding } = world.parts;
    const key = 'tenant-acme/cozy:tenant:view';
    const good = roleBinding.objects.get(key)!;
    const { 'app.kubernetes.io/managed-by': _mark, ...labels } = good.metadata.labels!;
    for (const change of [
      () => roleBinding.put({ ...good, subjects: [{ kind: 'Group', name: 'evil' }] }),
      () => roleBinding.put({ ...roleBinding.objects.get(key)!, metadata: { ...roleBinding.objects.get(key)!.metadata, labels } }),
      () => roleBinding.put({ ...roleBinding.objects.get(key)!, metadata: { ...roleBinding.objects.get(key)!.metadata, ownerReferences: [] } }),
      () => roleBinding.end(roleBinding.objects.get(key)!),
    ]) {
      change();
      await world.settle();
      assert.deepEqual(world.writes(), [`apply roleBinding ${key}`]);
      const { metadata, ...content } = roleBinding.objects.get(key)!;
      assert.deepEqual([content['subjects'], metadata.labels, metadata.ownerReferences], [good['subjects'], good.metadata.labels, good.metadata.ownerReferences]);
    }
  });

  it('writes each part once, however late the watch is', async () => {
    const world = await started();
    const catchUp = Object.values(world.parts).map((collection) => collection.delay());
    world.set('tenant-root', 'acme', {});
    await world.settle();
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['Reconciled']);
    world.set('tenant-root', 'acme', { etcd: true });
    await world.settle();
    for (const tell of catchUp) tell();
    await world.settle();
    const writes = world.writes();
    assert.deepEqual(writes.filter((write) => write.includes('cozy:tenant:view')), ['apply roleBinding tenant-acme/cozy:tenant:view']);
    assert.deepEqual(Object.values(world.parts).map(({ conflicts }) => conflicts), partKinds.map(() => 0));
  });

  it("leaves somebody's object alone, says so, makes all else, and goes on when it is gone", async () => {
    const world = await started();
    const { roleBinding } = world.parts;
    const catchUp = roleBinding.delay(); // what is not ours is not in the cache
    const theirs = roleBinding.put({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { namespace: 'tenant-acme', name: 'cozy:tenant' } });
    world.set('tenant-root', 'acme', {});
    await world.settle();
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['ObjectNotOwned']);
    assert.deepEqual([roleBinding.objects.get('tenant-acme/cozy:tenant'), roleBinding.objects.size], [theirs, 5]);
    roleBinding.end(theirs);
    await world.settle();
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['Reconciled']);
    catchUp();
  });

  it('shows all tenants what is public once the namespace for it exists, and no longer than the tenant lives', async () => {
    const world = await started();
    world.set('tenant-root', 'acme', {});
    await world.settle();
    world.namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cozy-public', finalizers: ['kubernetes'] } });
    await world.settle();
    assert.ok(world.parts.roleBinding.objects.has('cozy-public/cozy:tenant-acme:dashboard'));
    world.removeTree('tenant-root', 'acme');
    await world.settle();
    assert.deepEqual([...world.parts.roleBinding.objects.keys()], []);
  });

  it('hands what the platform tells charts down the tree, with one write a tenant', async () => {
    const world = await started();
    const { values } = world.parts;
    const secretOf = (text: string): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'tenant-root', name: 'cozystack-values' }, data: { 'values.yaml': Buffer.from(text).toString('base64') } });
    const told = (namespace: string): string => Buffer.from((values.objects.get(`${namespace}/cozystack-values`)!['data'] as Record<string, string>)['values.yaml']!, 'base64').toString();
    const platform = values.put(secretOf('_cluster: {root-host: one.test}'));
    world.set('tenant-root', 'root', {});
    world.set('tenant-root', 'acme', {});
    world.set('tenant-acme', 'dev', {});
    await world.settle();
    assert.deepEqual([values.objects.get('tenant-root/cozystack-values'), world.seen().tenants['tenant-root/root']?.says], [platform, ['Reconciled']]);
    world.writes();
    values.put({ ...platform, ...secretOf('_cluster: {root-host: two.test}') });
    await world.settle();
    assert.deepEqual(world.writes(), ['tenant-acme', 'tenant-acme-dev'].map((namespace) => `apply values ${namespace}/cozystack-values`));
    assert.match(told('tenant-acme-dev'), /root-host: two.test/);
    values.put({ ...platform, ...secretOf('[') });
    await world.settle();
    assert.match(told('tenant-acme'), /root-host: two.test/);
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['ValuesUnreadable']);
    assert.deepEqual(world.writes(), ['apply status tenant tenant-root/acme']);
  });

  it('tells a change of host to those below alone', async () => {
    const world = await started();
    for (const name of ['acme', 'other']) world.set('tenant-root', name, { host: `${name}.test` });
    world.set('tenant-acme', 'dev', {});
    world.set('tenant-acme-dev', 'a', {});
    world.set('tenant-acme', 'own', { host: 'own.test' });
    await world.settle();
    world.writes();
    world.set('tenant-root', 'acme', { host: 'new.test' });
    await world.settle();
    const namespaces = world.writes().filter((write) => write.includes(' namespace '));
    assert.deepEqual(namespaces.toSorted(), ['acme', 'acme-dev', 'acme-dev-a'].map((name) => `apply namespace tenant-${name}`));
  });

  it('leaves nothing of a tenant that goes before its namespace is seen in the cache', async () => {
    const world = await started();
    const catchUp = world.namespaces.delay();
    world.set('tenant-root', 'acme', {});
    await world.settle();
    assert.ok(world.namespaces.objects.has('tenant-acme'));
    world.removeTree('tenant-root', 'acme');
    await world.settle();
    catchUp();
    await world.settle();
    assert.deepEqual([[...world.namespaces.objects.keys()], world.tenants.objects.size], [['tenant-root'], 0]);
  });

  it('says what the kube-apiserver rejects, and goes on when it no longer does', async () => {
    const world = await started();
    world.namespaces.rejects = new StatusError(403, 'Forbidden', 'namespaces "tenant-acme" is forbidden: policy says no');
    world.set('tenant-root', 'acme', {});
    await world.settle();
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['ReconcileError']);
    world.namespaces.rejects = undefined;
    await world.advance(61_000);
    assert.deepEqual(world.seen().tenants['tenant-root/acme']?.says, ['Reconciled']);
    assert.deepEqual(world.events, ['acme ReconcileError', 'acme Reconciled']);
  });

  it('makes anew what was deleted by hand', async () => {
    const world = await started();
    world.set('tenant-root', 'acme', { host: 'acme.test', gateway: true });
    await world.settle();
    world.gateways.end(world.gateways.objects.get('tenant-acme/cozystack')!);
    await world.settle();
    assert.ok(world.gateways.objects.has('tenant-acme/cozystack'));
    world.namespaces.end(world.namespaces.objects.get('tenant-acme')!);
    await world.settle();
    assert.deepEqual([[...world.namespaces.objects.keys()], world.gateways.objects.size], [['tenant-root', 'tenant-acme'], 1]);
  });

  const places = [['tenant-root', 'root'], ['tenant-root', 'a'], ['tenant-root', 'b'], ['tenant-a', 'c'], ['tenant-a-c', 'd'], ['tenant-b', 'root']] as const;
  const spec = fc.record({ host: fc.constantFrom('', 'one.test', 'Two.test.', 'not a host'), gateway: fc.boolean(), etcd: fc.boolean() });
  const edit = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), place: fc.constantFrom(...places), spec }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), place: fc.constantFrom(...places), spec }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rest' as const), place: fc.constantFrom(...places), spec }) },
  );

  /** Without the gateways that a lost host has left as they were: only they depend on what was before. */
  const served = (seen: ReturnType<Awaited<ReturnType<typeof started>>['seen']>): object => {
    const hosts = seen.namespaces as Record<string, Record<string, string> | undefined>;
    return { ...seen, gateways: seen.gateways.filter(([key]) => hosts[String(key).split('/')[0]!]?.['namespace.cozystack.io/host'] !== '') };
  };

  it('ends any sequence of edits in the state of the final tree built afresh, in any order', () =>
    fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 14 }), async (edits) => {
        const world = await started();
        for (const { kind, place: [namespace, name], spec: wanted } of edits) {
          if (kind === 'set') world.set(namespace, name, wanted);
          else if (kind === 'remove') world.removeTree(namespace, name);
          else await world.settle();
        }
        await world.settle();
        const fresh = await started();
        for (const { metadata, spec: wanted } of [...world.tenants.objects.values()].toReversed()) fresh.set(metadata.namespace!, metadata.name!, wanted as object);
        await fresh.settle();
        assert.deepEqual(served(world.seen()), served(fresh.seen()));
        await Promise.all([world.stop(), fresh.stop()]);
      }),
      { numRuns: 60 },
    )).timeout(60_000);
});
