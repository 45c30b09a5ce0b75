import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { started } from './fake-world.ts';

type World = Awaited<ReturnType<typeof started>>;
const labelsOf = (world: World, namespace: string): Record<string, string> => world.namespaces.objects.get(namespace)?.metadata.labels ?? {};

/** `root ─ acme ─ dev ─ a`, `acme ─ own` with host and gateway of its own, `own ─ b`; and `other ─ c` beside acme. */
const tree = async (): Promise<World> => {
  const world = await started();
  world.set('tenant-root', 'root', { host: 'example.org', gateway: true });
  world.set('tenant-root', 'acme', {});
  world.set('tenant-root', 'other', {});
  world.set('tenant-acme', 'dev', {});
  world.set('tenant-acme-dev', 'a', {});
  world.set('tenant-acme', 'own', { host: 'own.test', gateway: true });
  world.set('tenant-acme-own', 'b', {});
  world.set('tenant-other', 'c', {});
  await world.settle();
  world.writes();
  world.events.splice(0);
  return world;
};

/** What each namespace's label says after each write, from now on. */
const watchLabel = (world: World, label: string): Map<string, string[]> => {
  const said = new Map<string, string[]>();
  const tell = ({ metadata: { name, labels } }: KubeObject): void => {
    const values = said.get(name!) ?? [];
    if (values.at(-1) !== labels?.[label]) said.set(name!, [...values, labels?.[label] ?? '(none)']);
  };
  void world.namespaces.source({ replace: (items) => items.forEach(tell), event: (_type, object) => tell(object) });
  return said;
};
const namespacesWritten = (world: World): string[] => world.writes().filter((write) => write.startsWith('apply namespace')).map((write) => write.replace('apply namespace ', '')).toSorted();

describe('a change in the middle of the tree', () => {
  for (const { name, change, back, label, from, to, affected } of [
    { name: 'a host that moves', change: { host: 'acme.test' }, back: {}, label: 'namespace.cozystack.io/host', from: ['acme.example.org', 'dev.acme.example.org', 'a.dev.acme.example.org'], to: ['acme.test', 'dev.acme.test', 'a.dev.acme.test'], affected: ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-dev-a'] },
    { name: 'a gateway that is turned on', change: { gateway: true }, back: {}, label: 'namespace.cozystack.io/gateway', from: ['tenant-root', 'tenant-root', 'tenant-root'], to: ['tenant-acme', 'tenant-acme', 'tenant-acme'], affected: ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-dev-a'] },
    { name: 'an etcd that is turned on', change: { etcd: true }, back: {}, label: 'namespace.cozystack.io/etcd', from: ['', '', ''], to: ['tenant-acme', 'tenant-acme', 'tenant-acme'], affected: ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-dev-a', 'tenant-acme-own', 'tenant-acme-own-b'] },
  ]) {
    it(`${name} is written once to each that it reaches and to no other, and never names a third owner on the way`, async () => {
      const world = await tree();
      const said = watchLabel(world, label);
      world.set('tenant-root', 'acme', change);
      await world.settle();
      assert.deepEqual(namespacesWritten(world), affected);
      for (const [index, namespace] of affected.slice(0, 3).entries()) assert.deepEqual(said.get(namespace), [from[index], to[index]]);
      world.set('tenant-root', 'acme', back);
      await world.settle();
      assert.deepEqual(namespacesWritten(world), affected);
      for (const [index, namespace] of affected.slice(0, 3).entries()) assert.deepEqual(said.get(namespace), [from[index], to[index], from[index]]);
    });
  }

  it('of host and gateway at once is one write to each: no namespace has the one of before and the other of after', async () => {
    const world = await tree();
    const [hosts, gateways] = [watchLabel(world, 'namespace.cozystack.io/host'), watchLabel(world, 'namespace.cozystack.io/gateway')];
    world.set('tenant-root', 'acme', { host: 'acme.test', gateway: true });
    await world.settle();
    const affected = ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-dev-a'];
    assert.deepEqual(namespacesWritten(world), affected);
    for (const namespace of affected) assert.deepEqual([hosts.get(namespace)?.length, gateways.get(namespace)?.length], [2, 2]);
  });

  it('that cordons it freezes the namespaces of all below, and lets them go again', async () => {
    const world = await tree();
    const cordon = (on: boolean): void => world.set('tenant-root', 'acme', {}, on ? { 'projectcapsule.dev/cordoned': 'true' } : {});
    const frozen = (): string[] => [...world.namespaces.objects.keys()].filter((namespace) => labelsOf(world, namespace)['projectcapsule.dev/cordoned'] === 'true').toSorted();
    const below = ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-dev-a', 'tenant-acme-own', 'tenant-acme-own-b'];
    cordon(true);
    await world.settle();
    assert.deepEqual([frozen(), namespacesWritten(world)], [below, below]);
    assert.deepEqual(world.seen().tenants['tenant-acme-dev/a']?.says, ['Reconciled', 'CertificatePerHost', 'Cordoned']);
    cordon(false);
    await world.settle();
    assert.deepEqual([frozen(), namespacesWritten(world)], [[], below]);
    assert.deepEqual(world.events.filter((event) => event.startsWith('a ')), ['a Cordoned', 'a Uncordoned']);
  });

  it('is written again by nobody, whatever was changed', () =>
    fc.assert(
      fc.asyncProperty(fc.record({ host: fc.constantFrom('', 'x.test'), gateway: fc.boolean(), ingress: fc.boolean(), monitoring: fc.boolean(), schedulingClass: fc.constantFrom('', 'fast') }), async (spec) => {
        const world = await tree();
        world.set('tenant-root', 'acme', spec);
        await world.settle();
        world.writes();
        await world.settle();
        assert.deepEqual(world.writes(), []);
        await world.stop();
      }),
      { numRuns: 30 },
    )).timeout(60_000);
});
