import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { eventually } from '../poll.ts';
import { ownControlPlane, sharedControlPlane } from './shared.ts';

const run = promisify(execFile);

const create = async (controlPlane: ControlPlane, path: string, body: unknown): Promise<any> => {
  const answer = await controlPlane.request({ method: 'POST', path, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.json();
};
const isGone = (controlPlane: ControlPlane, path: string) => async (): Promise<boolean> => (await controlPlane.request({ path })).status === 404;

const trustedAuthorities = async (controlPlane: ControlPlane): Promise<Record<string, string>> =>
  eventually('the kube-apiserver publishes what aggregated servers trust', async () => {
    const answer = await controlPlane.request({ path: '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication' });
    return answer.status === 200 && (answer.json().data as Record<string, string>);
  });

describe('control plane', () => {
  let controlPlane: ControlPlane;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    controlPlane = await sharedControlPlane();
  });

  it('creates a namespace with its ServiceAccount and root CA, and deletes it to the end', async () => {
    await create(controlPlane, '/api/v1/namespaces', { metadata: { name: 'comes-and-goes' } });
    for (const what of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
      await eventually(what, async () => (await controlPlane.request({ path: `/api/v1/namespaces/comes-and-goes/${what}` })).status === 200);
    }
    await controlPlane.request({ method: 'DELETE', path: '/api/v1/namespaces/comes-and-goes' });
    await eventually('the namespace is gone', isGone(controlPlane, '/api/v1/namespaces/comes-and-goes'));
  });

  it('aggregates ClusterRoles', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const rules = [{ apiGroups: ['example.org'], resources: ['things'], verbs: ['get'] }];
    await create(controlPlane, path, { metadata: { name: 'part', labels: { 'example.org/part': 'yes' } }, rules });
    await create(controlPlane, path, { metadata: { name: 'whole' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.org/part': 'yes' } }] }, rules: [] });
    const filled = await eventually('the role is filled', async () => {
      const whole = (await controlPlane.request({ path: `${path}/whole` })).json();
      return whole.rules?.length > 0 && whole.rules;
    });
    assert.deepEqual(filled, rules);
  });

  it('collects what a deleted owner owned', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const owner = await create(controlPlane, path, { metadata: { name: 'owner' } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
    await create(controlPlane, path, { metadata: { name: 'owned', ownerReferences } });
    await controlPlane.request({ method: 'DELETE', path: `${path}/owner` });
    await eventually('the owned object is gone', isGone(controlPlane, `${path}/owned`));
  });

  it('counts quota', async () => {
    await create(controlPlane, '/api/v1/namespaces', { metadata: { name: 'counted' } });
    await create(controlPlane, '/api/v1/namespaces/counted/resourcequotas', { metadata: { name: 'few' }, spec: { hard: { secrets: '1' } } });
    await eventually('the quota has a status', async () => (await controlPlane.request({ path: '/api/v1/namespaces/counted/resourcequotas/few' })).json().status?.used?.secrets === '0');
    await create(controlPlane, '/api/v1/namespaces/counted/secrets', { metadata: { name: 'first' } });
    const second = await controlPlane.request({ method: 'POST', path: '/api/v1/namespaces/counted/secrets', body: { metadata: { name: 'second' } } });
    assert.equal(second.status, 403, second.text);
  });

  it('runs each controller under its own ServiceAccount', async () => {
    await eventually('the garbage collector has a ServiceAccount', async () =>
      (await controlPlane.request({ path: '/api/v1/namespaces/kube-system/serviceaccounts/generic-garbage-collector' })).status === 200);
  });

  it('authenticates users by certificate, tokens by ServiceAccount, and allows neither anything', async () => {
    const alice = await controlPlane.clientAuthority.issue({ commonName: 'alice', organizations: ['team a', 'team b'], usages: ['client'] });
    const token = await create(controlPlane, '/api/v1/namespaces/default/serviceaccounts/default/token', {});
    for (const { credentials, username, groups } of [
      { credentials: alice, username: 'alice', groups: ['team a', 'team b', 'system:authenticated'] },
      {
        credentials: { token: token.status.token as string }, username: 'system:serviceaccount:default:default',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    ]) {
      const review = await controlPlane.request({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {} }, credentials);
      const { userInfo } = review.json().status;
      assert.deepEqual([userInfo.username, userInfo.groups], [username, groups]);
      assert.equal((await controlPlane.request({ path: '/api/v1/secrets' }, credentials)).status, 403);
    }
    assert.equal((await controlPlane.request({ path: '/api/v1/secrets' }, { token: 'made up' })).status, 401);
  });

  it('writes kubeconfigs that kubectl takes', async () => {
    const bob = await controlPlane.clientAuthority.issue({ commonName: 'bob', usages: ['client'] });
    const kubeconfig = await controlPlane.kubeconfigFor(bob, 'bob');
    const { stdout } = await run(controlPlane.kubectlPath, ['--kubeconfig', kubeconfig, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']);
    assert.equal(stdout, 'bob');
  });

  it('publishes an ECDSA front proxy authority', async () => {
    const data = await trustedAuthorities(controlPlane);
    assert.equal(new X509Certificate(data['requestheader-client-ca-file'] ?? '').publicKey.asymmetricKeyType, 'ec');
    assert.deepEqual(JSON.parse(data['requestheader-allowed-names'] ?? ''), [controlPlane.frontProxy.allowedName]);
    assert.deepEqual(JSON.parse(data['requestheader-uid-headers'] ?? ''), ['X-Remote-Uid']);
    assert.deepEqual(data['client-ca-file'], controlPlane.clientAuthority.certPem);
  });
});

describe('control plane of its own, with an RSA front proxy', () => {
  let controlPlane: ControlPlane;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    controlPlane = await ownControlPlane({ frontProxyKeyType: 'rsa' });
  });
  after(() => controlPlane?.stop());

  it('publishes an RSA front proxy authority', async () => {
    const data = await trustedAuthorities(controlPlane);
    assert.equal(data['requestheader-client-ca-file'], controlPlane.frontProxy.authority.certPem);
    assert.equal(new X509Certificate(controlPlane.frontProxy.authority.certPem).publicKey.asymmetricKeyType, 'rsa');
  });

  for (const part of ['kube-apiserver', 'kube-controller-manager', 'etcd'] as const) {
    it(`keeps its data and works again after ${part} was stopped and started`, async () => {
      const path = '/api/v1/namespaces/default/configmaps';
      await create(controlPlane, path, { metadata: { name: `before-${part}` } });
      await controlPlane.stopComponent(part);
      assert.equal(controlPlane.pidOf(part), undefined);
      if (part === 'kube-apiserver') await assert.rejects(controlPlane.request({ path }), { code: 'ECONNREFUSED' });
      await controlPlane.startComponent(part);
      assert.equal((await controlPlane.request({ path: `${path}/before-${part}` })).status, 200);
      await create(controlPlane, '/api/v1/namespaces', { metadata: { name: `after-${part}` } });
      await eventually('controllers work', async () => (await controlPlane.request({ path: `/api/v1/namespaces/after-${part}/serviceaccounts/default` })).status === 200);
    });
  }

  it('says why it could not start', async () => {
    await assert.rejects(ownControlPlane({ apiserverArgs: ['--no-such-flag'], log: () => {} }), /kube-apiserver ended before it was ready:[^]*unknown flag: --no-such-flag/);
  });
});
