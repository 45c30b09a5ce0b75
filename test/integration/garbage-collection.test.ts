import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeList, KubeObject } from '../../api/meta/v1/types.ts';
import { eventually } from '../poll.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';
import { clientsOf, create, find, patch, tenantNamed, tenantPath, tenantRecordPath, Watch, type Clients } from './client.ts';

// A Tenant and its record are one object to the garbage collector: they share a uid. Were the Tenant to vanish from a
// list or watch for a moment, all that it owns would be deleted.
describe('garbage collector', () => {
  let cluster: Cluster;
  let clients: Clients;
  let namespace: string;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
    clients = await clientsOf(cluster);
    namespace = await makeNamespace(cluster, 'gc');
  });
  after(async () => {
    clients?.close();
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  const configMapPath = (name?: string): string => `/api/v1/namespaces/${namespace}/configmaps${name ? `/${name}` : ''}`;

  /** A Tenant and a ConfigMap of the same name that it owns. */
  const pair = async (name: string): Promise<{ owner: KubeObject; owned: KubeObject }> => {
    const owner = await create(clients.front, tenantPath(namespace), tenantNamed(name));
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, blockOwnerDeletion: true }];
    return { owner, owned: await create(clients.front, configMapPath(), { metadata: { name, ownerReferences } }) };
  };
  const deleteTenant = (name: string, propagationPolicy: string): Promise<unknown> =>
    clients.front.json({ method: 'DELETE', path: tenantPath(namespace, name), query: { propagationPolicy } });
  const isGone = (path: string) => async (): Promise<boolean> => (await find(clients.front, path)) === undefined;

  let probes = 0;
  /** The collector has seen all that was done before: it collects what was made and orphaned after that. */
  const collectorIsCurrent = async (): Promise<void> => {
    const name = `probe${(probes += 1)}`;
    await eventually('a pair can be made', () => pair(name).then(() => true));
    await eventually('the probe can be deleted', () => deleteTenant(name, 'Background').then(() => true));
    await eventually('the collector works', isGone(configMapPath(name)), { withinMs: 90_000 });
  };

  for (const { propagationPolicy, ownedStays, name } of [
    { propagationPolicy: 'Background', ownedStays: false, name: 'deleted in the background' },
    { propagationPolicy: 'Foreground', ownedStays: false, name: 'deleted in the foreground, the owner last' },
    { propagationPolicy: 'Orphan', ownedStays: true, name: 'orphaned' },
  ]) {
    it(`lets what a Tenant owns be ${name}`, async () => {
      const tenant = propagationPolicy.toLowerCase();
      await pair(tenant);
      if (propagationPolicy === 'Foreground') await patch(clients.front, configMapPath(tenant), { metadata: { finalizers: ['example.org/hold'] } });
      await deleteTenant(tenant, propagationPolicy);
      if (propagationPolicy === 'Foreground') {
        await eventually('the owned object is being deleted', async () => (await find(clients.front, configMapPath(tenant)))?.metadata.deletionTimestamp !== undefined);
        const waiting = await find(clients.front, tenantPath(namespace, tenant));
        assert.ok(waiting?.metadata.finalizers?.includes('foregroundDeletion'), 'the owner waits for what it owns');
        await patch(clients.front, configMapPath(tenant), { metadata: { finalizers: null } });
      }
      await eventually('the Tenant is gone', isGone(tenantPath(namespace, tenant)));
      await eventually('its record is gone', isGone(tenantRecordPath(namespace, tenant)));
      if (!ownedStays) return eventually('what it owned is gone', isGone(configMapPath(tenant)));
      await collectorIsCurrent();
      assert.deepEqual((await find(clients.front, configMapPath(tenant)))?.metadata.ownerReferences, undefined);
    });
  }

  describe('an owned object stays', () => {
    let owner: KubeObject;
    let owned: KubeObject;
    before(async () => {
      ({ owner, owned } = await pair('kept'));
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
          assert.equal((await find(clients.front, configMapPath('kept')))?.metadata.uid, owned.metadata.uid);
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
        await collectorIsCurrent();
        assert.deepEqual(await find(clients.front, configMapPath('kept')), owned, 'nobody touched it');
        assert.equal((await find(clients.front, tenantPath(namespace, 'kept')))?.metadata.uid, owner.metadata.uid);
      });
    }

    it('through 30 s of changes, in which the collector writes nothing to either of the two', async function () {
      this.timeout(120_000);
      const path = tenantPath(namespace, 'kept');
      const { resourceVersion } = (await clients.front.json<KubeList>({ path: tenantRecordPath(namespace) })).metadata;
      const seen = await Watch.open(clients.front, tenantRecordPath(namespace), { resourceVersion, fieldSelector: 'metadata.name=kept' });
      const acknowledged: string[] = [];
      const until = Date.now() + 30_000;
      // labels leave the generation alone, and so give the loop nothing to write
      for (let count = 1; Date.now() < until; count += 1) {
        acknowledged.push((await patch(clients.front, path, { metadata: { labels: { count: String(count) } } })).metadata.resourceVersion!);
        await sleep(20);
      }
      await collectorIsCurrent();
      await eventually('the last write was seen', () => seen.events.some(({ object }) => object.metadata.resourceVersion === acknowledged.at(-1)));
      seen.close();
      const others = seen.events.filter(({ object }) => !acknowledged.includes(object.metadata.resourceVersion!));
      console.log(`      ${acknowledged.length} writes, ${others.length} of others`);
      assert.deepEqual(others, []);
      assert.deepEqual(await find(clients.front, configMapPath('kept')), owned);
    });
  });
});
