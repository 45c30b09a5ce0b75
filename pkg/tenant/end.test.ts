import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { started } from './fake-world.ts';

type World = Awaited<ReturnType<typeof started>>;
const release = (name: string, { namespace = 'tenant-acme', module = false, finalizers = [] as string[] } = {}): KubeObject => ({
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { name, namespace, finalizers, labels: { 'apps.cozystack.io/application.kind': 'Any', ...(module && { 'internal.cozystack.io/tenantmodule': 'true' }) } },
});
const readyOf = (world: World, key: string): { reason: string; message: string } | undefined =>
  (world.tenants.objects.get(key)?.['status'] as { conditions?: { type: string; reason: string; message: string }[] } | undefined)?.conditions?.find(({ type }) => type === 'Ready');
/** In the order in which they were asked for. */
const deleted = (world: World): string[] => world.writes().filter((write) => write.startsWith('delete '));
const end = (world: World, key: string): void => world.tenants.end(world.tenants.objects.get(key)!);
const letGo = (world: World, key: string): void => {
  const held = world.parts.module.objects.get(key)!;
  world.parts.module.put({ ...held, metadata: { ...held.metadata, finalizers: [] } });
};

const tree = async (): Promise<World> => {
  const world = await started();
  world.set('tenant-root', 'acme', {});
  world.set('tenant-root', 'acme2', {});
  world.set('tenant-acme', 'dev', {});
  world.set('tenant-acme', 'prod', {});
  world.set('tenant-acme-dev', 'a', {});
  await world.settle();
  world.writes();
  return world;
};

describe('the end of a tenant', () => {
  it('waits for those below, and touches none of them, where nobody asked for more', async () => {
    const world = await tree();
    end(world, 'tenant-root/acme');
    await world.settle();
    assert.deepEqual(readyOf(world, 'tenant-root/acme'), {
      ...readyOf(world, 'tenant-root/acme'),
      reason: 'ChildrenExist',
      message: 'Deletion waits for the tenants in namespace tenant-acme: dev, prod; delete them first, or annotate this tenant with tenant.cozystack.io/deletion-policy=cascade to have all below it deleted with it',
    });
    assert.deepEqual(deleted(world), []);
  });

  it('takes all below with it where that was asked for, leaves first, and nothing of a sibling', async () => {
    const world = await tree();
    const sibling = () => [...world.namespaces.objects.values(), ...Object.values(world.parts).flatMap(({ objects }) => [...objects.values()])].filter(({ metadata }) => (metadata.namespace ?? metadata.name) === 'tenant-acme2');
    const before = sibling();
    world.cascade('tenant-root', 'acme');
    await world.settle();
    const order = deleted(world).filter((write) => write.startsWith('delete namespace')).map((write) => write.replace('delete namespace ', ''));
    assert.deepEqual([order.indexOf('tenant-acme-dev-a') < order.indexOf('tenant-acme-dev'), order.at(-1), order.length], [true, 'tenant-acme', 4]);
    assert.deepEqual([...world.tenants.objects.keys()], ['tenant-root/acme2']);
    assert.deepEqual(sibling(), before);
  });

  it('goes on when the choice comes late, and reaches those whose own deletion began before', async () => {
    const world = await tree();
    end(world, 'tenant-root/acme');
    end(world, 'tenant-acme/dev');
    await world.settle();
    assert.equal(world.namespaces.objects.has('tenant-acme-dev-a'), true);
    const acme = world.tenants.objects.get('tenant-root/acme')!;
    world.tenants.put({ ...acme, metadata: { ...acme.metadata, annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } } });
    await world.settle();
    assert.deepEqual([...world.namespaces.objects.keys()].toSorted(), ['tenant-acme2', 'tenant-root']);
  });

  it('tells of a tenant below that somebody else holds', async () => {
    const world = await tree();
    const dev = world.tenants.objects.get('tenant-acme/dev')!;
    world.tenants.put({ ...dev, metadata: { ...dev.metadata, finalizers: [...dev.metadata.finalizers!, 'theirs.test/hold'] } });
    world.cascade('tenant-root', 'acme');
    await world.settle();
    assert.equal(readyOf(world, 'tenant-root/acme')?.message, 'Deletion waits for the tenants in namespace tenant-acme: dev (held by finalizer theirs.test/hold); they are deleted with it');
  });

  it('takes applications first, then modules, then the namespace, and tells who holds what', async () => {
    const world = await tree();
    const { module } = world.parts;
    for (const each of [release('db', { finalizers: ['finalizers.fluxcd.io'] }), release('etcd', { module: true, finalizers: ['finalizers.fluxcd.io'] }), release('db', { namespace: 'tenant-acme2' })]) module.put(each);
    for (const key of ['tenant-acme-dev/a', 'tenant-acme/dev', 'tenant-acme/prod']) end(world, key);
    await world.settle();
    world.writes();

    end(world, 'tenant-root/acme');
    await world.settle();
    assert.deepEqual(deleted(world), ['delete module tenant-acme/db']);
    assert.equal(readyOf(world, 'tenant-root/acme')?.message, 'Deletion waits for applications in namespace tenant-acme: HelmRelease db (held by finalizer finalizers.fluxcd.io)');
    letGo(world, 'tenant-acme/db');
    await world.settle();
    assert.deepEqual(deleted(world), ['delete module tenant-acme/info', 'delete module tenant-acme/etcd']);
    assert.equal(readyOf(world, 'tenant-root/acme')?.message, 'Deletion waits for modules in namespace tenant-acme: HelmRelease etcd (held by finalizer finalizers.fluxcd.io)');
    assert.equal(world.namespaces.objects.get('tenant-acme')?.metadata.deletionTimestamp, undefined);
    letGo(world, 'tenant-acme/etcd');
    await world.settle();
    assert.deepEqual([world.namespaces.objects.has('tenant-acme'), module.objects.has('tenant-acme2/db')], [false, true]);
  });

  it('tells what is left in a namespace that cannot be emptied', async () => {
    const world = await tree();
    const namespace = world.namespaces.objects.get('tenant-acme2')!;
    const message = 'Some content in the namespace has finalizers remaining: theirs.test/hold in 1 resource instances';
    const { serviceAccount } = world.parts;
    const held = serviceAccount.objects.get('tenant-acme2/tenant-acme2')!;
    serviceAccount.put({ ...held, metadata: { ...held.metadata, finalizers: ['theirs.test/hold'] } });
    world.namespaces.put({ ...namespace, status: { phase: 'Terminating', conditions: [{ type: 'NamespaceFinalizersRemaining', status: 'True', message }, { type: 'NamespaceContentRemaining', status: 'False', message: 'no' }] } });
    end(world, 'tenant-root/acme2');
    await world.settle();
    assert.equal(readyOf(world, 'tenant-root/acme2')?.message, `Deletion waits for namespace tenant-acme2, which is being emptied: ${message}`);
  });

  it('leaves applications in the namespace of root, which stays', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { etcd: true });
    world.parts.module.put(release('db', { namespace: 'tenant-root' }));
    await world.settle();
    end(world, 'tenant-root/root');
    await world.settle();
    assert.deepEqual([[...world.parts.module.objects.keys()], world.tenants.objects.size], [['tenant-root/db'], 0]);
  });
});
