import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { after, before, describe, it } from 'mocha';
import { call } from '../../hack/controlplane/request.ts';
import { eventually } from '../poll.ts';
import { clientsOf, create, gatewayPath, type Clients } from './client.ts';
import { makeNamespace, sharedCluster, type Cluster } from './cluster.ts';
import { answerOf, cancelMany, frontSession, getAs } from './front-session.ts';

const groups = Array.from({ length: 1000 }, (_, index) => `team-${index}`);
const objects = 18;
/** Below what a kube-apiserver takes of annotations. */
const padding = 'x'.repeat(240_000);
const gateway = (name: string): object => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { name, annotations: { 'example.org/padding': padding } },
  spec: { apex: `${name}.example.org`, certMode: 'http01' },
});

describe('overload by one leaves the others alone', function () {
  this.timeout(10 * 60_000);
  let cluster: Cluster;
  let clients: Clients;
  let namespace: string;
  let list: string;
  const sessions: ClientHttp2Session[] = [];

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await sharedCluster();
    clients = await clientsOf(cluster);
    namespace = await makeNamespace(cluster, 'overload');
    list = gatewayPath(namespace);
    for (let index = 0; index < objects; index += 1) await create(clients.front, list, gateway(`big-${index}`));
    const rbac = 'rbac.authorization.k8s.io';
    await cluster.kubectl.run(['create', 'clusterrole', 'overload-reader', '--verb=get,list,watch', '--resource=tenantgateways.gateway.cozystack.io']);
    await cluster.kubectl.run(['create', 'clusterrolebinding', 'overload-reader', '--clusterrole=overload-reader', `--group=${groups.at(-1)}`]);
    await eventually(`${rbac} lets the group read`, async () => (await cluster.kubectl.try(['auth', 'can-i', 'list', 'tenantgateways.gateway.cozystack.io', '--as=x', `--as-group=${groups.at(-1)}`])).code === 0);
  });
  after(() => {
    for (const session of sessions) session.destroy();
    clients.close();
  });

  const front = async (): Promise<ClientHttp2Session> => {
    const session = await frontSession(cluster.port, cluster.controlPlane.frontProxy.client);
    sessions.push(session);
    return session;
  };
  const ask = (session: ClientHttp2Session, path: string, user: string, ofGroups: readonly string[] = [groups.at(-1)!]): ClientHttp2Stream => getAs(session, path, user, ofGroups);
  const get = (): string => gatewayPath(namespace, 'big-0');
  const residentMb = async (): Promise<number> => {
    const { text } = await call({ url: `https://127.0.0.1:${cluster.port}`, trustAnyServer: true, credentials: cluster.controlPlane.admin }, { path: '/metrics' });
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)![1]) / 2 ** 20;
  };

  it('a user with a thousand groups is served: impersonated at the kube-apiserver, and on a connection of the front proxy', async () => {
    const { status } = await cluster.kubectl.try(['get', '--raw', list, '--as=many', ...groups.map((group) => `--as-group=${group}`)]).then(({ code, stderr }) => ({ status: code === 0 ? 200 : stderr }));
    assert.equal(status, 200);
    assert.equal((await answerOf(ask(await front(), get(), 'many', groups))).status, 200);
  });

  it('forty lists of 4 MB at a time arrive whole, on one connection', async () => {
    const session = await front();
    const answers = await Promise.all(Array.from({ length: 40 }, () => answerOf(ask(session, list, 'reader'))));
    for (const { status, length } of answers) assert.deepEqual([status, length > 4 * 2 ** 20, length], [200, true, answers[0]!.length]);
    const through = await Promise.all(Array.from({ length: 40 }, () => clients.front.request({ path: list, timeoutMs: 120_000 })));
    for (const { status, body } of through) assert.deepEqual([status, body.length > 4 * 2 ** 20], [200, true]);
  });

  it('five thousand requests that are cancelled', async () => {
    const session = await front();
    const statuses = await cancelMany(10, 500, () => ask(session, get(), 'flighty'), () => ask(session, get(), 'patient'));
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal(session.closed, false);
    assert.equal((await clients.front.request({ path: get() })).status, 200);
  });

  it('five hundred watchers that do not read, while megabytes change', async () => {
    const session = await front();
    const watchers = Array.from({ length: 500 }, () => ask(session, `${list}?watch=1`, 'stalled'));
    for (const watcher of watchers) watcher.on('error', () => undefined);
    await Promise.all(watchers.map((watcher) => once(watcher, 'response'))); // and nothing of the events is read
    const before = await residentMb();
    for (let round = 0; round < 60; round += 1) {
      await clients.front.json({ method: 'PATCH', path: gatewayPath(namespace, `big-${round % objects}`), contentType: 'application/merge-patch+json', body: { metadata: { labels: { round: String(round) } } } });
      if (round % 10 === 0) assert.equal((await answerOf(ask(session, get(), 'reader'))).status, 200);
    }
    const answer = await answerOf(ask(session, list, 'reader'));
    assert.deepEqual([answer.status, answer.length > 4 * 2 ** 20], [200, true]);
    assert.equal((await clients.front.request({ path: list })).status, 200);
    const grown = (await residentMb()) - before;
    console.log(`      the server grew by ${Math.round(grown)} MB, of ${Math.round(before)}`);
    assert.ok(grown < 600, `${grown} MB`);
  });

  it('a timeout that is none is refused as the kube-apiserver refuses it', async () => {
    const query = { timeout: 'soon' };
    const [theirs, ours] = await Promise.all([clients.front.request({ path: '/api/v1/namespaces', query }), clients.server.request({ path: list, query })]);
    assert.equal(ours.status, 400);
    assert.deepEqual(JSON.parse(ours.body.toString('utf8')), JSON.parse(theirs.body.toString('utf8')));
  });
});
