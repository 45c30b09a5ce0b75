import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import { StatusError } from '../kube/status-error.ts';
import { started } from './fake-world.ts';
import { cordonMark, deletionPolicyAnnotation } from './marks.ts';
import { partKinds } from './part.ts';

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
    assert.deepEqual([covered('tenant-acme', 'shop'), covered('tenant-acme', 'dev'), covered('tenant-root', 'acme')], ['OutsideApex', 'CertificatePerHost', undefined]);
    world.set('tenant-acme', 'shop', {});
    await world.settle();
    const gateway = world.gateways.objects.get('tenant-acme/cozystack')!;
    const listeners = ['shop.acme.test', 'dev.acme.test'].map((apex) => ({ name: apex, hostname: `*.${apex}`, ready: true, certificateName: 'tls', certificate: { ready: apex !== 'shop.acme.test' } }));
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
  const marks = fc.constantFrom({}, { [cordonMark]: 'true' }, { [deletionPolicyAnnotation]: 'cascade' });
  const spec = fc.record({ host: fc.constantFrom('', 'one.test', 'Two.test.', 'not a host'), gateway: fc.boolean(), etcd: fc.boolean() });
  const edit = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), place: fc.constantFrom(...places), spec, marks }) },
    ...(['remove', 'cascade', 'rest'] as const).map((kind) => ({ weight: 1, arbitrary: fc.record({ kind: fc.constant(kind), place: fc.constantFrom(...places), spec, marks }) })),
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
        for (const { kind, place: [namespace, name], spec: wanted, marks: annotations } of edits) {
          if (kind === 'set') world.set(namespace, name, wanted, annotations);
          else if (kind === 'remove') world.removeTree(namespace, name);
          else if (kind === 'cascade') world.cascade(namespace, name);
          else await world.settle();
        }
        await world.settle();
        const fresh = await started();
        for (const { metadata, spec: wanted } of [...world.tenants.objects.values()].toReversed()) fresh.set(metadata.namespace!, metadata.name!, wanted as object, metadata.annotations);
        await fresh.settle();
        assert.deepEqual(served(world.seen()), served(fresh.seen()));
        await Promise.all([world.stop(), fresh.stop()]);
      }),
      { numRuns: 60 },
    )).timeout(60_000);
});
