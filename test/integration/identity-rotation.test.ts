import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { constants, type ClientHttp2Session } from 'node:http2';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import { Child } from '../../hack/controlplane/child.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { call } from '../../hack/controlplane/request.ts';
import { createAuthority, type KeyPair } from '../../pkg/server/certificates.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { sharedCluster, type Cluster } from './cluster.ts';

const configMap = 'extension-apiserver-authentication';
const list = '/apis/apps.cozystack.io/v1alpha1/tenants';

describe('whom the kube-apiserver vouches for changes while the server runs', function () {
  this.timeout(5 * 60_000);
  let cluster: Cluster;
  const sessions: ClientHttp2Session[] = [];

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await sharedCluster();
  });
  after(() => {
    for (const session of sessions) session.destroy();
  });

  const connect = async ({ certPem, keyPem }: KeyPair): Promise<ClientHttp2Session> => {
    const session = http2.connect(`https://127.0.0.1:${cluster.port}`, { cert: certPem, key: keyPem, rejectUnauthorized: false });
    sessions.push(session);
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    return session;
  };
  const ask = async (session: ClientHttp2Session, headers: Record<string, string> = {}): Promise<{ status?: number; body: string }> => {
    const stream = session.request({ ':path': list, ...headers });
    const [head] = (await once(stream, 'response')) as [{ ':status'?: number }];
    return { status: head[':status'], body: Buffer.concat((await stream.toArray()) as Buffer[]).toString('utf8') };
  };
  /** Adds to what the ConfigMap holds, which the kube-apiserver keeps; what is taken out it would put back. */
  const add = async (key: string, change: (before: string) => string): Promise<void> => {
    const { data } = await cluster.kubectl.json(['get', 'configmap', configMap, '-n', 'kube-system']);
    await cluster.kubectl.run(['patch', 'configmap', configMap, '-n', 'kube-system', '--type=merge', '-p', JSON.stringify({ data: { [key]: change(data[key]) } })]);
  };

  it('a new client authority counts for the next request of a connection that is open', async () => {
    const authority = await createAuthority({ commonName: 'new-client-ca' });
    const session = await connect(await authority.issue({ commonName: 'newcomer', usages: ['client'] }));
    assert.equal((await ask(session)).status, 401);
    await add('client-ca-file', (pem) => `${pem}\n${authority.certPem}`);
    const { body } = await eventually('the authority is known', async () => {
      const answer = await ask(session);
      return answer.status === 403 && answer;
    });
    assert.match(body, /User \\"newcomer\\"/);
    assert.equal(session.closed, false);
  });

  it('a new front proxy, by authority and name, is believed at once, and gets a connection with its own limits', async () => {
    const authority = await createAuthority({ commonName: 'new-front-ca' });
    const front = await authority.issue({ commonName: 'new-front', usages: ['client'] });
    const session = await connect(front);
    const user = { 'x-remote-user': 'carried' };
    assert.equal((await ask(session, user)).status, 401);
    assert.equal(session.remoteSettings.maxConcurrentStreams, 100);
    const goaway = once(session, 'goaway');
    await add('requestheader-client-ca-file', (pem) => `${pem}\n${authority.certPem}`);
    await add('requestheader-allowed-names', (names) => JSON.stringify([...(JSON.parse(names) as string[]), 'new-front']));
    const [code] = (await goaway) as [number];
    assert.equal(code, constants.NGHTTP2_NO_ERROR);
    const next = await connect(front);
    const { status, body } = await ask(next, user);
    assert.equal(status, 403);
    assert.match(body, /User \\"carried\\"/);
    assert.ok(next.remoteSettings.maxConcurrentStreams! > 100);
  });

  it('a server that may not read the ConfigMap is not ready, and names it', async () => {
    const { controlPlane, kubectl } = cluster;
    await kubectl.run(['create', 'serviceaccount', 'unbound', '-n', 'default']);
    const token = (await kubectl.run(['create', 'token', 'unbound', '-n', 'default'])).trim();
    const [port] = (await freePorts(1)) as [number];
    const readyz = () => call({ url: `https://127.0.0.1:${port}`, trustAnyServer: true, credentials: { anonymous: true } }, { path: '/readyz' });
    const child = new Child({
      name: 'unbound',
      executable: process.execPath,
      args: [
        path.resolve(import.meta.dirname, '../../cmd/tenant-apiserver/main.ts'), '--bind-address=127.0.0.1', `--secure-port=${port}`, '--run-loop=false',
        `--kubeconfig=${await controlPlane.kubeconfigFor({ token }, 'unbound')}`,
      ],
      logFile: path.join(controlPlane.directory, 'logs', 'unbound.log'),
      ready: async () => (await readyz()).text.includes('cannot be read'),
    });
    atEnd(() => child.stop('SIGKILL'));
    await child.start();
    const { status, text } = await readyz();
    assert.equal(status, 500);
    assert.match(text, /\[-\]authentication failed: ConfigMap kube-system\/extension-apiserver-authentication cannot be read: .* bind the role extension-apiserver-authentication-reader/);
    await child.stop();
  });
});
