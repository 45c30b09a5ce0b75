import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { eventually } from '../poll.ts';
import type { Cluster } from './cluster.ts';
import { find, patch, tenantPath, tenantRecordPath, type Clients } from './client.ts';
import { CollectorWorld } from './collector-world.ts';

// A Tenant and its record are one object to the garbage collector: they share a uid. Were the Tenant to vanish from a
// list or watch for a moment, all that it owns would be deleted.
describe('garbage collector', () => {
  let world: CollectorWorld;
  let cluster: Cluster;
  let clients: Clients;
  let namespace: string;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    ({ cluster, clients, namespace } = world = await CollectorWorld.start());
  });
  after(() => world?.stop());

  for (const { propagationPolicy, ownedStays, name } of [
    { propagationPolicy: 'Background', ownedStays: false, name: 'deleted in the background' },
    { propagationPolicy: 'Foreground', ownedStays: false, name: 'deleted in the foreground, the owner last' },
    { propagationPolicy: 'Orphan', ownedStays: true, name: 'orphaned' },
  ]) {
    it(`lets what a Tenant owns be ${name}`, async () => {
      const tenant = propagationPolicy.toLowerCase();
      await world.pair(tenant);
      if (propagationPolicy === 'Foreground') await patch(clients.front, world.configMapPath(tenant), { metadata: { finalizers: ['example.org/hold'] } });
      await world.deleteTenant(tenant, propagationPolicy);
      if (propagationPolicy === 'Foreground') {
        await eventually('the owned object is being deleted', async () => (await find(clients.front, world.configMapPath(tenant)))?.metadata.deletionTimestamp !== undefined);
        const waiting = await find(clients.front, tenantPath(namespace, tenant));
        assert.ok(waiting?.metadata.finalizers?.includes('foregroundDeletion'), 'the owner waits for what it owns');
        await patch(clients.front, world.configMapPath(tenant), { metadata: { finalizers: null } });
      }
      await eventually('the Tenant is gone', world.isGone(tenantPath(namespace, tenant)));
      await eventually('its record is gone', world.isGone(tenantRecordPath(namespace, tenant)));
      if (!ownedStays) return eventually('what it owned is gone', world.isGone(world.configMapPath(tenant)));
      await world.collectorIsCurrent();
      assert.deepEqual((await find(clients.front, world.configMapPath(tenant)))?.metadata.ownerReferences, undefined);
    });
  }

  describe('an owned object stays', () => {
    let owner: KubeObject;
    let owned: KubeObject;
    before(async () => {
      ({ owner, owned } = await world.pair('kept'));
    });
    const serverIsAway = (): Promise<void> => cluster.server.stop();
    const serverIsBack = (): Promise<void> => cluster.server.start();

    for (const { name, disturb } of [
      { name: 'when the server starts anew', disturb: () => serverIsAway().then(serverIsBack) },
      {
        name: 'while the server is down, and the collector starts in that time',
        disturb: async () => {
          await serverIsAway();
          await cluster.controlPlane.stopComponent('kube-controller-manager');
          await cluster.controlPlane.startComponent('kube-controller-manager');
          await sleep(15_000); // the collector looks around every few seconds and retries with a growing delay
          assert.equal((await find(clients.front, world.configMapPath('kept')))?.metadata.uid, owned.metadata.uid);
          await serverIsBack();
        },
      },
      {
        name: 'when the kube-apiserver starts anew, which makes the server list anew',
        disturb: async () => {
          await patch(clients.front, tenantPath(namespace, 'kept'), { metadata: { annotations: { written: 'before' } } });
          await cluster.controlPlane.stopComponent('kube-apiserver');
          await cluster.controlPlane.startComponent('kube-apiserver');
        },
      },
      {
        name: 'when all three start anew at once',
        disturb: async () => {
          const { controlPlane } = cluster;
          await Promise.all([cluster.server.stop('SIGKILL'), controlPlane.stopComponent('kube-controller-manager'), controlPlane.stopComponent('kube-apiserver')]);
          await controlPlane.startComponent('kube-apiserver');
          await Promise.all([serverIsBack(), controlPlane.startComponent('kube-controller-manager')]);
        },
      },
    ]) {
      it(name, async function () {
        this.timeout(180_000);
        await disturb();
        await world.collectorIsCurrent();
        assert.deepEqual(await find(clients.front, world.configMapPath('kept')), owned, 'nobody touched it');
        assert.equal((await find(clients.front, tenantPath(namespace, 'kept')))?.metadata.uid, owner.metadata.uid);
      });
    }

    it('through 30 s of changes, in which the collector writes nothing to either of the two', async function () {
      this.timeout(120_000);
      await world.churn('kept', 30);
    });
  });
});
