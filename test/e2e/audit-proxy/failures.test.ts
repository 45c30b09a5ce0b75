import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { call, type Answer, type Credentials } from '../../../hack/controlplane/request.ts';
import { installProxy } from '../../../hack/local/audit-proxy.ts';
import { serviceAccountToken } from '../../../hack/local/product.ts';
import { extraImpersonation, uidImpersonation } from '../../../pkg/auditproxy/permissions.ts';
import { makeAuthority } from '../../../pkg/authentication/certificate-fixtures.ts';
import type { PolicyRule } from '../../../pkg/controller/permissions.ts';
import { tenantNamed, tenantPath } from '../../integration/client.ts';
import { makeNamespace, ownCluster, type Cluster } from '../../integration/cluster.ts';
import { eventually } from '../../poll.ts';
import { Proxied } from './proxied.ts';
import { TenantUser } from './tenant-user.ts';

const credentialId = 'authentication.kubernetes.io/credential-id';

/** Each row of docs/audit-proxy.md, "When something is wrong": its symptom, and that its cure cures it. */
describe('audit-proxy, when something is wrong', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let proxied: Proxied;
  let user: TenantUser;
  let namespace: string;

  before(async function () {
    this.timeout(300_000);
    cluster = await ownCluster();
    proxied = await Proxied.beside(cluster);
    namespace = await makeNamespace(cluster, 'shop');
    user = await TenantUser.named(cluster, 'alice', 'shoppers');
    await user.mayDo('list,create,delete', namespace);
    await proxied.start();
    await proxied.handOver();
    await proxied.available();
  });

  const list = (as = user): Promise<Answer> => as.request({ path: tenantPath(namespace) });
  const answered = (what: string, code: number, as = user, message = /./): Promise<Answer> =>
    eventually(what, async () => {
      const answer = await list(as);
      if (answer.status === code && message.test(answer.text)) return answer;
      await proxied.lookAgain(); // while the proxy was started anew, the kube-apiserver may have given it up
      throw new Error(`${answer.status} ${answer.text}`);
    }, { withinMs: 90_000, everyMs: 250 });
  const unbind = (...names: string[]): Promise<string> => cluster.kubectl.run(['delete', 'clusterrolebinding', ...names]);
  const grant = async (name: string, rules: readonly PolicyRule[]): Promise<void> => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
    await cluster.kubectl.run(['create', '-f', '-'], { input: JSON.stringify(role) });
    await cluster.kubectl.run(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, '--serviceaccount=cozy-system:audit-proxy']);
  };
  const cure = (): Promise<void> => installProxy(cluster.controlPlane);
  /** Straight to the proxy, past the kube-apiserver. */
  const direct = (credentials: Credentials, headers: Record<string, string>): Promise<Answer> =>
    call({ url: `https://127.0.0.1:${proxied.port}`, trustAnyServer: true, credentials }, { path: tenantPath(namespace), headers });

  it('403 "cannot impersonate resource users": the ServiceAccount may not impersonate; its role cures it', async () => {
    await unbind('audit-proxy:impersonate-tenants');
    await answered('the user is refused', 403, user, /User \\"system:serviceaccount:cozy-system:audit-proxy\\" cannot impersonate resource \\"users\\"/);
    await proxied.probed(); // the front's own identities have a role of their own
    await cure();
    await answered('the user is let in', 200);
  });

  it("FailedDiscoveryCheck with 403: nor may it impersonate the front's own users; the same role cures it", async () => {
    await unbind('audit-proxy:impersonate-front', 'audit-proxy:impersonate-tenants');
    const { reason, message } = await proxied.judged('unavailable', ({ status }) => status === 'False');
    assert.equal(reason, 'FailedDiscoveryCheck');
    assert.match(message, /403/);
    await cure();
    await proxied.available();
  });

  it('a role that is narrowed to names lets these in, keeps both APIServices available, and refuses everybody else', async () => {
    const other = await TenantUser.named(cluster, 'mallory', 'shoppers');
    await other.mayDo('list', namespace);
    await answered('the other is let in', 200, other);
    await unbind('audit-proxy:impersonate-tenants');
    await grant('narrow', [
      { apiGroups: [''], resources: ['users'], resourceNames: ['alice'], verbs: ['impersonate'] },
      { apiGroups: [''], resources: ['groups'], resourceNames: ['shoppers', 'system:authenticated'], verbs: ['impersonate'] },
    ]);
    await answered('the named user is let in', 200);
    await answered('the other is refused', 403, other, /cannot impersonate resource \\"users\\"/);
    await proxied.probed();
    await cure();
    await cluster.kubectl.run(['delete', 'clusterrolebinding', 'narrow']);
    await answered('the user is let in', 200);
  });

  it("401 at the proxy: the front's certificate is not trusted, or not presented; the cluster's own front is", async () => {
    const { controlPlane } = cluster;
    const forged = { 'x-remote-user': 'alice', 'x-remote-group': 'system:masters' };
    for (const credentials of [{ anonymous: true }, controlPlane.admin, await controlPlane.frontProxy.authority.issue({ commonName: 'somebody', usages: ['client'] })] as Credentials[]) {
      const { status, text } = await direct(credentials, forged);
      assert.deepEqual([status, JSON.parse(text).reason], [401, 'Unauthorized']);
    }
    assert.equal((await direct(controlPlane.frontProxy.client, { 'x-remote-user': 'alice', 'x-remote-group': 'system:authenticated' })).status, 200);
  });

  it('a proxy that does not start: it may not read whom to trust; the auth-reader RoleBinding cures it', async () => {
    await cluster.kubectl.run(['delete', 'rolebinding', '-n', 'kube-system', 'audit-proxy:extension-apiserver-authentication-reader']);
    await assert.rejects(proxied.start(), /whom to trust as the front is not known: ConfigMap kube-system\/extension-apiserver-authentication cannot be read: .*; bind the role extension-apiserver-authentication-reader/s);
    await proxied.judged('unavailable', ({ status }) => status === 'False');
    await cure();
    await proxied.start();
    await proxied.available();
  });

  it("503 with a TLS error: the backend's certificate is not trusted; its CA cures it", async () => {
    const right = await readFile(proxied.files.backendCa, 'utf8');
    await proxied.replace('backendCa', makeAuthority().certPem);
    await proxied.start();
    await proxied.judged('unavailable', ({ status: judged, message }) => judged === 'False' && message.includes('503'));
    const { status, text } = await direct(cluster.controlPlane.frontProxy.client, { 'x-remote-user': 'alice' });
    assert.equal(status, 503);
    assert.match(JSON.parse(text).message, /^error trying to reach service: cannot connect to localhost:\d+: .*certificate/);
    await proxied.replace('backendCa', right); // read again, without a restart
    await proxied.available();
    await answered('the user is let in', 200);
  });

  it("403 on an operation: the user's own RBAC, in the words of the server; a role for the user cures it", async () => {
    const stranger = await TenantUser.named(cluster, 'bob');
    await answered('the stranger is refused', 403, stranger, /User \\"bob\\" cannot list resource \\"tenants\\"/);
    await stranger.mayDo('list', namespace);
    await answered('the stranger is let in', 200, stranger);
  });

  it('403 "cannot impersonate userextras": an extra is sent without permission; extras.mode none cures it, although the kube-apiserver adds one to everybody', async () => {
    await proxied.start(['--backend-identity-impersonation-extras-mode=all']);
    await answered('the user is refused', 403, user, new RegExp(`cannot impersonate resource \\\\"userextras/${credentialId}\\\\"`));
    await proxied.start(['--backend-identity-impersonation-extras-mode=none']);
    await answered('the user is let in', 200);
    const made = await user.request({ method: 'POST', path: tenantPath(namespace), body: tenantNamed('acme') });
    assert.equal(made.status, 201, made.text);
    const event = await proxied.event('the tenant', ({ objectRef }) => objectRef?.name === 'acme');
    assert.match(event.user.extra![credentialId]![0]!, /^X509SHA256=/);
  });

  it('permission on the key, and on uids, cures it, too: an allowlist and forwardUid are let in', async () => {
    await grant('extras', [...extraImpersonation([credentialId]), ...uidImpersonation]);
    await proxied.start([
      '--backend-identity-impersonation-forward-uid',
      '--backend-identity-impersonation-extras-mode=allowlist', `--backend-identity-impersonation-extras-allowlist=${credentialId}`,
    ]);
    await answered('the user is let in', 200);
    await proxied.start();
  });

  it('401 from the backend: the token is no good any more; one that is written anew is taken up', async () => {
    await proxied.replace('token', 'no-token');
    await answered('the user learns of it', 401);
    await proxied.replace('token', await serviceAccountToken(cluster.controlPlane, 'audit-proxy'));
    await answered('the user is let in', 200);
    assert.doesNotMatch(await proxied.log(), new RegExp(await readFile(proxied.files.token, 'utf8')));
  });

  it('events that are lost fail nobody: a dead sink, and a queue that is full, show in the metrics alone', async () => {
    const kubeconfig = `${proxied.files.config}.webhook`;
    await proxied.replaceFile(kubeconfig, JSON.stringify({ 'current-context': 'c', contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }], clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }] }));
    await proxied.start(['--audit-log-path=', `--audit-webhook-config-file=${kubeconfig}`, '--audit-webhook-batch-buffer-size=2', '--audit-webhook-batch-max-wait=100ms']);
    await answered('the user is let in', 200);
    for (let count = 0; count < 5; count += 1) {
      const { status } = await user.request({ method: 'POST', path: `${tenantPath(namespace)}?dryRun=All`, body: tenantNamed('lost') });
      assert.equal(status, 201);
    }
    assert.match(await proxied.metrics(), /^apiserver_audit_error_total\{plugin="buffered"\} 3$/m);
    await proxied.start();
  });
});
