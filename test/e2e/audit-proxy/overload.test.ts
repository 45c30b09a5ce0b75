import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { after, before, describe, it } from 'mocha';
import { proxyAccount } from '../../../hack/local/audit-proxy.ts';
import { call } from '../../../hack/controlplane/request.ts';
import { clientsOf, create, gatewayPath } from '../../integration/client.ts';
import { makeNamespace, quietCluster, type Cluster } from '../../integration/cluster.ts';
import { answerOf, cancelMany, frontSession, getAs } from '../../integration/front-session.ts';
import { eventually } from '../../poll.ts';
import { Proxied } from './proxied.ts';

const groupsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `team-${index}`);
const reader = 'team-0';
const objects = 18;
/** Below what a kube-apiserver takes of annotations. */
const padding = 'x'.repeat(240_000);

describe('overload through audit-proxy', function () {
  this.timeout(5 * 60_000);
  let cluster: Cluster;
  let proxied: Proxied;
  let session: ClientHttp2Session;
  let list: string;
  let get: string;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await quietCluster({}, [`--trusted-proxy-user=${proxyAccount}`]);
    proxied = await Proxied.beside(cluster);
    await proxied.start();
    const namespace = await makeNamespace(cluster, 'overload');
    list = gatewayPath(namespace);
    get = gatewayPath(namespace, 'big-0');
    const clients = await clientsOf(cluster);
    for (let index = 0; index < objects; index += 1) {
      const metadata = { name: `big-${index}`, annotations: { 'example.org/padding': padding } };
      await create(clients.server, list, { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata, spec: { apex: `big-${index}.example.org`, certMode: 'http01' } });
    }
    clients.close();
    await cluster.kubectl.run(['create', 'clusterrole', 'overload-reader', '--verb=get,list,watch', '--resource=tenantgateways.gateway.cozystack.io']);
    await cluster.kubectl.run(['create', 'clusterrolebinding', 'overload-reader', '--clusterrole=overload-reader', `--group=${reader}`]);
    session = await frontSession(proxied.port, cluster.controlPlane.frontProxy.client);
    await eventually('the group may read', async () => (await answerOf(ask(get, 'reader'))).status === 200);
  });
  after(() => session?.destroy());

  const ask = (path: string, user: string, groups: readonly string[] = [reader]): ClientHttp2Stream => getAs(session, path, user, groups);
  const ended = async (): Promise<number> => {
    const { text } = await call({ url: `https://127.0.0.1:${cluster.port}`, trustAnyServer: true, credentials: cluster.controlPlane.admin }, { path: '/metrics' });
    return [...text.matchAll(/^tenant_apiserver_connections_ended_total\{.*\} (\d+)$/gm)].reduce((total, [, count]) => total + Number(count), 0);
  };

  for (const count of [1000, 3000]) {
    it(`a user with ${count} groups is served`, async () => assert.equal((await answerOf(ask(get, 'many', groupsOf(count)))).status, 200));
  }

  it('forty lists of 4 MB at a time arrive whole', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => answerOf(ask(list, 'reader'))));
    for (const { status, length } of answers) assert.deepEqual([status, length > 4 * 2 ** 20, length], [200, true, answers[0]!.length]);
  });

  it('five thousand requests that are cancelled cost nobody a connection', async () => {
    const before = await ended();
    const statuses = await cancelMany(10, 500, () => ask(get, 'flighty'), () => ask(get, 'patient'));
    assert.deepEqual([...new Set(statuses), await ended()], [200, before]);
  });

  it('five hundred watchers that do not read leave others alone', async () => {
    const watchers = Array.from({ length: 500 }, () => ask(`${list}?watch=1`, 'stalled'));
    for (const watcher of watchers) watcher.on('error', () => undefined);
    await Promise.all(watchers.map((watcher) => once(watcher, 'response')));
    assert.equal((await answerOf(ask(get, 'reader'))).status, 200);
    assert.ok((await answerOf(ask(list, 'reader'))).length > 4 * 2 ** 20);
    const before = await ended();
    for (const watcher of watchers) watcher.destroy();
    assert.deepEqual([(await answerOf(ask(get, 'reader'))).status, await ended()], [200, before]);
  });
});
