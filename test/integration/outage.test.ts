import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../hack/controlplane/controlplane.ts';
import type { KubeList } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeRequest } from '../../pkg/kube/client.ts';
import { eventually } from '../poll.ts';
import { clientAt, clientsOf, create, find, patch, tenantNamed, tenantPath, tenantRecordPath, Watch, type Clients } from './client.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';
import { Follower, PersistentWriter, timed } from './outage-client.ts';

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/cozy-system/leases/tenant-apiserver';
/** No answer may take longer; a client waits for about as long. */
const patienceMs = 40_000;

describe('outage of the kube-apiserver', () => {
  let cluster: Cluster;
  let clients: Clients;
  let alice: KubeClient;
  let namespace: string;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
    clients = await clientsOf(cluster);
    alice = clientAt(cluster.port, await cluster.controlPlane.clientAuthority.issue({ commonName: 'alice', usages: ['client'] }));
    namespace = await makeNamespace(cluster, 'outage');
    await create(clients.front, tenantPath(namespace), tenantNamed('steady'));
  });
  after(async () => {
    alice?.close();
    clients?.close();
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  /** What needs the host, by who asks. */
  const questions = (): { what: string; needs: Part; client: KubeClient; request: KubeRequest }[] => {
    const one = tenantPath(namespace, 'steady');
    const all = tenantPath(namespace);
    const { server } = clients;
    return [
      { what: 'get', needs: 'etcd', client: server, request: { path: one } },
      { what: 'list', needs: 'etcd', client: server, request: { path: all } },
      { what: 'watch', needs: 'etcd', client: server, request: { path: all, query: { watch: true, timeoutSeconds: 1 } } },
      { what: 'create', needs: 'etcd', client: server, request: { method: 'POST', path: all, body: tenantNamed('unheard') } },
      { what: 'update', needs: 'etcd', client: server, request: { method: 'PATCH', path: one, contentType: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } } },
      { what: 'apply', needs: 'etcd', client: server, request: { method: 'PATCH', path: one, query: { fieldManager: 'test' }, contentType: 'application/apply-patch+yaml', body: tenantNamed('steady') } },
      { what: 'delete', needs: 'etcd', client: server, request: { method: 'DELETE', path: one } },
      { what: 'list as a user who is to be authorised', needs: 'kube-apiserver', client: alice, request: { path: all } },
    ];
  };
  const records = async (): Promise<Map<string, string>> => {
    const { items } = await clients.front.json<KubeList>({ path: tenantRecordPath(namespace) });
    return new Map(items.map(({ metadata }) => [metadata.name!, metadata.resourceVersion!]));
  };
  const leader = async (): Promise<string | undefined> => ((await find(clients.front, leasePath))?.spec as { holderIdentity?: string } | undefined)?.holderIdentity;
  const nothingIsLost = async ({ acknowledged }: PersistentWriter): Promise<void> => {
    const kept = await records();
    for (const [name, version] of acknowledged) assert.ok(Number(kept.get(name)) >= version, `${name}, acknowledged at ${version}, is at ${kept.get(name)}`);
  };

  for (const { part, codes } of [
    { part: 'kube-apiserver', codes: [503] },
    { part: 'etcd', codes: [500, 503, 504] }, // in the kube-apiserver's words, where it has any
  ] satisfies { part: Part; codes: number[] }[]) {
    it(`is survived where ${part} stops and starts: refusals meanwhile, everything as before afterwards`, async function () {
      this.timeout(300_000);
      const { pid } = cluster.server;
      const heldBy = await eventually('there is a leader', leader);
      const follower = new Follower(clients.server, tenantPath(namespace));
      const writer = new PersistentWriter(clients.server, namespace);
      await eventually('there are writes to lose', () => writer.acknowledged.size > 20);

      await cluster.controlPlane.stopComponent(part);
      const asked = questions().filter(({ needs }) => part === 'kube-apiserver' || needs === 'etcd');
      const answers = await Promise.all(asked.map(async ({ what, client, request }) => ({ what, ...(await timed(client, request)) })));
      await cluster.controlPlane.startComponent(part);
      for (const { what, status, reason, retryAfter, ms } of answers) console.log(`      ${part} away, ${what}: ${status} ${reason} Retry-After ${retryAfter} after ${Math.round(ms)} ms`);
      for (const { what, status, reason, retryAfter, ms } of answers) {
        assert.ok(codes.includes(status), `${what}: ${status} ${reason}`);
        assert.notEqual(reason, undefined, `${what}: the answer is a Status`);
        if (status === 503) assert.ok(Number(retryAfter) > 0, `${what}: Retry-After`);
        assert.ok(ms < patienceMs, `${what}: ${ms} ms`);
      }

      await eventually('writes are taken again', () => create(clients.server, tenantPath(namespace), tenantNamed(part === 'etcd' ? 'aftera' : 'afterb')).then(() => true), { withinMs: 60_000 });
      await eventually('the front passes requests on', async () => (await find(clients.front, tenantPath(namespace, 'steady'))) !== undefined, { withinMs: 60_000 });
      const before = writer.acknowledged.size;
      await eventually('the writer goes on', () => writer.acknowledged.size > before + 10, { withinMs: 60_000 });
      await writer.stop();
      await nothingIsLost(writer);
      await eventually('the follower holds what the records are', async () => {
        assert.deepEqual(follower.held, await records());
        return true;
      });
      await follower.stop();
      console.log(`      ${part}: ${writer.acknowledged.size} objects acknowledged, ${writer.refused} refusals; the follower listed ${follower.lists} times`);
      assert.deepEqual(follower.faults, []);
      assert.equal(cluster.server.pid, pid, 'the same process');

      await create(clients.front, tenantPath(namespace), tenantNamed(part === 'etcd' ? 'lead' : 'led'));
      await eventually('the loop works', async () => (await find(clients.front, tenantPath(namespace, part === 'etcd' ? 'lead' : 'led')))?.status !== undefined, { withinMs: 60_000 });
      assert.equal(await leader(), heldBy, 'the one server leads again');
    });
  }

  it('ends open watches where the server had to list anew, and says 410 to versions from before', async function () {
    this.timeout(120_000);
    const { metadata: { resourceVersion } } = await clients.server.json<KubeList>({ path: tenantPath(namespace) });
    const watches = await Promise.all([
      Watch.open(clients.server, tenantPath(namespace), { resourceVersion }),
      Watch.open(clients.server, tenantPath(), { resourceVersion, labelSelector: 'a=b' }),
      Watch.open(clients.server, tenantPath(namespace), { fieldSelector: 'metadata.name=nobody' }),
    ]);
    // Versions of other kinds pass by, so that the kube-apiserver's new watch cache begins after what the server has seen.
    await create(clients.front, `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'passes' } });
    await cluster.controlPlane.stopComponent('kube-apiserver');
    await cluster.controlPlane.startComponent('kube-apiserver');
    await eventually('every open watch has ended', () => watches.every(({ isOver }) => isOver), { withinMs: 60_000 });
    for (const { events } of watches) assert.deepEqual(events.filter(({ type }) => type === 'DELETED'), [], 'no event is made up');
    const late = await Watch.open(clients.server, tenantPath(namespace), { resourceVersion });
    await late.over;
    assert.deepEqual(late.events.map(({ type, object }) => [type, object.code, object.reason]), [['ERROR', 410, 'Expired']]);
    const fresh = await eventually('a list works', () => clients.server.json<KubeList>({ path: tenantPath(namespace) }));
    const again = await Watch.open(clients.server, tenantPath(namespace), { resourceVersion: fresh.metadata.resourceVersion });
    await patch(clients.server, tenantPath(namespace, 'steady'), { metadata: { labels: { again: 'yes' } } });
    await eventually('the watch works', () => again.events.length === 1);
    again.close();
  });

  it('is answered in time where the kube-apiserver hangs', async function () {
    this.timeout(180_000);
    const hanging = cluster.controlPlane.pidOf('kube-apiserver')!;
    const { pid } = cluster.server;
    process.kill(hanging, 'SIGSTOP');
    try {
      const answers = await Promise.all(questions().filter(({ what }) => what !== 'delete').map(async ({ what, client, request }) => ({ what, ...(await timed(client, request)) })));
      for (const { what, status, reason, ms } of answers) console.log(`      hanging, ${what}: ${status} ${reason} after ${Math.round(ms)} ms`);
      for (const { what, status, retryAfter, ms } of answers) {
        assert.ok([503, 504].includes(status), `${what}: ${status}`);
        assert.ok(Number(retryAfter) > 0, `${what}: Retry-After`);
        assert.ok(ms < patienceMs, `${what}: ${ms} ms`);
      }
    } finally {
      process.kill(hanging, 'SIGCONT');
    }
    await eventually('requests are answered again', () => patch(clients.server, tenantPath(namespace, 'steady'), { metadata: { labels: { hung: 'no' } } }).then(() => true), { withinMs: 60_000 });
    assert.equal(cluster.server.pid, pid);
  });

  it('loses nothing acknowledged where the server itself is killed in a burst of writes', async function () {
    this.timeout(180_000);
    for (let round = 0; round < 3; round += 1) {
      const burst = await makeNamespace(cluster, 'burst');
      namespace = burst;
      const writer = new PersistentWriter(clients.server, burst, 16);
      await eventually('the burst is on', () => writer.acknowledged.size > 50, { everyMs: 5 });
      await cluster.server.stop('SIGKILL');
      await sleep(100 * round);
      await cluster.server.start();
      const before = writer.acknowledged.size;
      await eventually('the burst goes on', () => writer.acknowledged.size > before + 50);
      await writer.stop();
      await nothingIsLost(writer);
      const { items } = await clients.server.json<KubeList>({ path: tenantPath(burst) });
      assert.deepEqual(new Set(items.map(({ metadata }) => metadata.name)), new Set((await records()).keys()));
      console.log(`      ${writer.acknowledged.size} acknowledged, ${writer.refused} refused`);
    }
  });
});
