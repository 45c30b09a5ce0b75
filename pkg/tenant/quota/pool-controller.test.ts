import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { managedBy } from '../../controller/apply.ts';
import { Informer } from '../../controller/informer.ts';
import { silentLog } from '../../controller/log.ts';
import { ManualClock } from '../../controller/manual-clock.ts';
import { FakeCollection } from '../fake-cluster.ts';
import { namespaceOf, tenantUidLabel } from '../names.ts';
import { tenantInformer } from '../observe.ts';
import { defaultTenantSettings } from '../settings.ts';
import { allocatedName, PoolController, quotaInformer, type UsedQuota } from './pool-controller.ts';

const started = async () => {
  let version = 1;
  const newVersion = (): string => String((version += 1));
  const [tenants, namespaces, quotas] = ['tenant', 'namespace', 'quota'].map((name) => new FakeCollection(name, newVersion)) as [FakeCollection, FakeCollection, FakeCollection];
  const clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
  const caches = { tenants: new Informer<Tenant>(tenants.source, tenantInformer), namespaces: new Informer(namespaces.source), quotas: new Informer<UsedQuota>(quotas.source, quotaInformer) };
  const events: string[] = [];
  const told: string[] = [];
  const pools = new PoolController({
    caches,
    target: quotas,
    settings: defaultTenantSettings,
    events: { record: async ({ metadata }, { type, reason, note }) => void events.push(`${metadata.name} ${type} ${reason}: ${note}`) },
    log: silentLog,
    clock,
  });
  pools.subscribe((tenant) => told.push(tenant));
  for (const informer of Object.values(caches)) informer.start();
  void pools.controller.start();
  const settle = () => clock.advance(5000);
  /** A Tenant as it is to be, and its namespace. */
  const set = (namespace: string, name: string, resourceQuotas?: Record<string, number>): void => {
    const found = tenants.objects.get(`${namespace}/${name}`);
    const spec = resourceQuotas ? { resourceQuotas } : {};
    const tenant = tenants.put(found ? { ...found, spec } : { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name }, spec });
    const own = namespaceOf(namespace, name);
    if (!namespaces.objects.has(own)) namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: own, labels: { ...managedBy, [tenantUidLabel]: tenant.metadata.uid! }, finalizers: ['kubernetes'] } });
  };
  /** As the quota controller counts. */
  const use = (namespace: string, used: Record<string, string>): void => {
    const name = 'counted';
    const quota = quotas.objects.get(`${namespace}/${name}`) ?? { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name } };
    quotas.put({ ...quota, status: { used } });
  };
  const allocated = (): Record<string, unknown> =>
    Object.fromEntries(Array.from(quotas.objects.values()).filter(({ metadata }) => metadata.name === allocatedName).map(({ metadata, spec }) => [metadata.namespace!, (spec as { hard: object }).hard]));
  await settle();
  return { tenants, namespaces, quotas, clock, events, told, settle, set, use, allocated, pools };
};

describe('the pools that namespaces share', () => {
  it('are written into each namespace, follow use, and go when nothing is shared any more', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { pods: 10 });
    world.set('tenant-root', 'a');
    await world.settle();
    assert.deepEqual(world.allocated(), { 'tenant-root': { pods: '10' }, 'tenant-a': { pods: '10' } });
    const { labels, ownerReferences } = world.quotas.objects.get(`tenant-a/${allocatedName}`)!.metadata;
    assert.deepEqual([labels, ownerReferences], [{ ...managedBy, 'quota.cozystack.io/managed-by': 'tenant-quota-controller', 'internal.cozystack.io/managed-by-cozystack': '' }, undefined]);
    world.use('tenant-a', { pods: '4' });
    await world.settle();
    assert.deepEqual(world.allocated(), { 'tenant-root': { pods: '6' }, 'tenant-a': { pods: '10' } });
    world.set('tenant-root', 'root');
    await world.settle();
    assert.deepEqual(world.allocated(), {});
  });

  it('are not written again and again while use goes up and down', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { pods: 10 });
    for (const name of ['a', 'b']) world.set('tenant-root', name);
    await world.settle();
    world.quotas.writes.splice(0);
    for (let change = 0; change < 100; change += 1) {
      world.use('tenant-a', { pods: String(change % 5) });
      await world.clock.advance(10);
    }
    await world.settle();
    const writes = world.quotas.writes.splice(0);
    assert.ok(writes.length <= 4, `${writes.length} writes in a second`);
    assert.deepEqual(world.allocated(), { 'tenant-root': { pods: '6' }, 'tenant-a': { pods: '10' }, 'tenant-b': { pods: '6' } });
    await world.settle();
    assert.deepEqual(world.quotas.writes, []);
  });

  it('come back when somebody changes or removes what holds them', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { pods: 10 });
    world.set('tenant-root', 'a');
    await world.settle();
    world.quotas.end(world.quotas.objects.get(`tenant-a/${allocatedName}`)!);
    const other = world.quotas.objects.get(`tenant-root/${allocatedName}`)!;
    world.quotas.put({ ...other, spec: { hard: { pods: '1000' } } });
    await world.settle();
    assert.deepEqual(world.allocated(), { 'tenant-root': { pods: '10' }, 'tenant-a': { pods: '10' } });
  });

  it('leave alone what somebody else has made, and namespaces that are not the tenant’s', async () => {
    const world = await started();
    const foreign: KubeObject = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: 'tenant-a', name: allocatedName }, spec: { hard: { pods: '1' } } };
    world.quotas.put(foreign);
    world.namespaces.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-b', labels: {}, finalizers: ['kubernetes'] } });
    world.set('tenant-root', 'root', { pods: 10 });
    for (const name of ['a', 'b']) world.set('tenant-root', name);
    await world.settle();
    assert.deepEqual(world.allocated(), { 'tenant-root': { pods: '10' }, 'tenant-a': { pods: '1' } });
  });

  it('are told of once when more is promised than there is', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { pods: 10 });
    world.set('tenant-root', 'a', { pods: 8 });
    await world.settle();
    world.set('tenant-root', 'root', { pods: 5 });
    await world.settle();
    world.use('tenant-root', { pods: '1' });
    await world.settle();
    assert.deepEqual(world.events, ['root Warning QuotaOvercommitted: More is promised or in use than there is: pods: tenants below have 8 and 0 is in use, of 5']);
  });

  it('have each tenant told of its own budget as soon as it changes', async () => {
    const world = await started();
    world.set('tenant-root', 'root', { pods: 10 });
    world.set('tenant-root', 'a', { pods: 4 });
    await world.settle();
    world.told.splice(0);
    world.use('tenant-a', { pods: '1' });
    await world.settle();
    assert.deepEqual(world.told, ['tenant-root/a']);
    const tenant = world.tenants.objects.get('tenant-root/a') as Tenant;
    assert.deepEqual(world.pools.quotaOf(tenant), { quota: { pods: { limit: '4', carvedOut: '0', used: '1', remaining: '3' } }, remaining: 'pods: 3' });
  });
});
