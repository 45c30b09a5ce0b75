import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import tls from 'node:tls';
import { before, describe, it } from 'mocha';
import { call, type Answer } from '../../../hack/controlplane/request.ts';
import { createAuthority, type Authority } from '../../../pkg/server/certificates.ts';
import { tenantNamed, tenantPath } from '../../integration/client.ts';
import { makeNamespace, quietCluster, type Cluster } from '../../integration/cluster.ts';
import { eventually } from '../../poll.ts';
import { Proxied } from './proxied.ts';

describe('audit-proxy as a process', function () {
  this.timeout(120_000);
  let cluster: Cluster;
  let proxied: Proxied;
  let namespace: string;
  let authority: Authority;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await quietCluster();
    proxied = await Proxied.beside(cluster);
    namespace = await makeNamespace(cluster, 'process');
    authority = await createAuthority({ commonName: 'ours' });
  });

  /** As the administrator, by the front's certificate. */
  const create = (name: string): Promise<Answer> =>
    call({ url: `https://127.0.0.1:${proxied.port}`, trustAnyServer: true, credentials: cluster.controlPlane.frontProxy.client }, {
      method: 'POST', path: tenantPath(namespace), body: tenantNamed(name), headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' },
    });

  it('serves with a certificate from files, in the modes of others, and with the next one without a restart', async () => {
    const [certFile, keyFile] = ['serving.crt', 'serving.key'].map((name) => path.join(cluster.controlPlane.directory, name)) as [string, string];
    const issue = async (): Promise<void> => {
      const { certPem, keyPem } = await authority.issue({ commonName: 'audit-proxy', dnsNames: ['audit-proxy.cozy-system.svc'], usages: ['server'] });
      await Promise.all([proxied.replaceFile(certFile, certPem), proxied.replaceFile(keyFile, keyPem)]);
    };
    /** What is served, to a client that trusts the authority and knows the Service. */
    const served = async (): Promise<string> => {
      const socket = tls.connect({ host: '127.0.0.1', port: proxied.port, ca: authority.certPem, servername: 'audit-proxy.cozy-system.svc' });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    for (const mode of ['cert-manager', 'existing-secret']) {
      await issue();
      await proxied.start([`--server-tls-mode=${mode}`, `--server-tls-cert-file=${certFile}`, `--server-tls-key-file=${keyFile}`]);
      const first = await served();
      await issue();
      await eventually('the new certificate is served', async () => (await served()) !== first);
    }
  });

  it('warns loudly where any backend is trusted, and trusts it', async () => {
    await proxied.start(['--backend-tls-ca-file=', '--backend-tls-insecure-skip-verify']);
    assert.equal((await create('trusting')).status, 201);
    assert.match(await proxied.log(), /"level":40.*backend\.tls\.insecureSkipVerify is on/);
  });

  it('writes every event before it ends', async () => {
    await proxied.start(['--audit-log-batch-max-size=100', '--audit-log-batch-max-wait=1h']);
    const names = ['one', 'two', 'three'];
    for (const name of names) assert.equal((await create(name)).status, 201);
    const recorded = async (): Promise<string[]> => (await proxied.events()).flatMap(({ objectRef }) => (names.includes(objectRef?.name ?? '') ? [objectRef!.name!] : []));
    assert.deepEqual(await recorded(), []);
    await proxied.stop();
    assert.deepEqual(await recorded(), names);
  });
});
