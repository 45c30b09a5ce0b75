import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { delegatedAuthentication, type DelegatedAuthentication } from '../../pkg/authentication/delegated.ts';
import { delegatedAuthorization } from '../../pkg/authorization/delegated.ts';
import { contextOf } from '../../pkg/endpoints/context.ts';
import { withAuthentication } from '../../pkg/endpoints/filters/authentication.ts';
import { withAuthorization } from '../../pkg/endpoints/filters/authorization.ts';
import { withImpersonation } from '../../pkg/endpoints/filters/impersonation.ts';
import { withRequestInfo } from '../../pkg/endpoints/filters/request-info.ts';
import { connectTo, serve, type Answer, type Served } from '../../pkg/endpoints/filters/served-fixture.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { eventually } from '../poll.ts';
import { sharedControlPlane } from './shared.ts';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  verbs: string[];
  nonResourceURLs?: string[];
}

const namespace = 'identity';
const authenticationGroup = 'authentication.k8s.io';
const may = (verbs: string[], resources: string[], apiGroups = [''], resourceNames?: string[]): Rule => ({ apiGroups, resources, verbs, ...(resourceNames && { resourceNames }) });

const read = may(['get', 'list', 'watch'], ['configmaps']);
const users = may(['impersonate'], ['users']);
const groups = may(['impersonate'], ['groups']);
const accounts = may(['impersonate'], ['serviceaccounts']);
const uids = may(['impersonate'], ['uids'], [authenticationGroup]);
const extras = may(['impersonate'], ['userextras/scopes', 'userextras/example.org/k'], [authenticationGroup]);
const mode = (name: string, resources: string[], resourceNames?: string[]): Rule[] => [
  may([`impersonate-on:${name}:list`, `impersonate-on:${name}:get`], ['configmaps']),
  may([`impersonate:${name}`], resources, [authenticationGroup], resourceNames),
];
const userInfo = mode('user-info', ['users', 'groups', 'uids', 'userextras/example.org/k']);

const grants: Record<string, Rule[]> = {
  nothing: [],
  users: [users],
  'one user': [may(['impersonate'], ['users'], [''], ['reader'])],
  'users and groups': [users, groups],
  'accounts and users': [accounts, users],
  everything: [users, groups, accounts, uids, extras],
  'user-info': userInfo,
  'user-info on nothing': [userInfo[1]!],
  'constrained accounts': mode('serviceaccount', ['serviceaccounts']),
  'constrained nodes': mode('arbitrary-node', ['nodes'], ['n1']),
};

const identities: Record<string, string[]> = {
  reader: ['Impersonate-User', 'reader'],
  'somebody else': ['Impersonate-User', 'else'],
  'reader of a group': ['Impersonate-User', 'reader', 'Impersonate-Group', 'dev, ops'],
  'reader of masters': ['Impersonate-User', 'reader', 'Impersonate-Group', 'system:masters'],
  'reader of four groups': ['Impersonate-User', 'else', 'Impersonate-Group', 'a', 'Impersonate-Group', 'b', 'Impersonate-Group', 'readers', 'Impersonate-Group', 'd'],
  'unauthenticated reader': ['Impersonate-User', 'reader', 'Impersonate-Group', 'system:unauthenticated'],
  anonymous: ['Impersonate-User', 'system:anonymous'],
  account: ['Impersonate-User', `system:serviceaccount:${namespace}:default`],
  'account with groups': ['Impersonate-User', `system:serviceaccount:${namespace}:default`, 'Impersonate-Group', 'readers'],
  node: ['Impersonate-User', 'system:node:n1'],
  uid: ['Impersonate-User', 'reader', 'Impersonate-Uid', '7'],
  'plain extra': ['Impersonate-User', 'reader', 'Impersonate-Extra-Scopes', 'x'],
  'prefixed extra': ['Impersonate-User', 'reader', 'Impersonate-Extra-Example.org%2fK', 'x'],
  'bad extra': ['Impersonate-User', 'reader', 'Impersonate-Extra-A_b%2fK%3f', 'x'],
  'groups alone': ['Impersonate-Group', 'x"y', 'Impersonate-Uid', '1', 'Impersonate-Extra-K', 'v'],
  quotes: ['Impersonate-User', 'a"b<c>&'],
};

describe('who is asking', () => {
  let controlPlane: ControlPlane;
  let served: Served;
  let authentication: DelegatedAuthentication;
  let client: KubeClient;
  let apiserverPort: number;
  const outcomes = new Map<number, number>();

  const create = async (path: string, body: object): Promise<void> => {
    const answer = await controlPlane.request({ method: 'POST', path, body });
    assert.equal(answer.status, 201, answer.text);
  };
  const grant = async (name: string, rules: Rule[], subject: { kind: string; name: string }): Promise<void> => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await create(`${rbac}/clusterroles`, { metadata: { name }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    await create(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }] });
  };
  /** The same request to the kube-apiserver and to us, with the same certificate. */
  const both = async (user: string, method: string, path: string, lines: string[]): Promise<[Answer, Answer]> => {
    const { certPem, keyPem } = await controlPlane.clientAuthority.issue({ commonName: user, organizations: ['testers'], usages: ['client'] });
    const certificate = { cert: certPem, key: keyPem };
    const theirs = connectTo('HTTP/1.1', { port: apiserverPort, ca: controlPlane.caPem, ...certificate });
    const ours = served.connect('HTTP/2', certificate);
    try {
      return await Promise.all([theirs.ask(method, path, lines), ours.ask(method, path, lines)]);
    } finally {
      theirs.close();
      ours.close();
    }
  };

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    controlPlane = await sharedControlPlane();
    apiserverPort = Number(new URL(controlPlane.url).port);
    const { certPem, keyPem } = controlPlane.admin;
    client = new KubeClient({ server: new URL(controlPlane.url), ca: controlPlane.caPem, cert: certPem, key: keyPem, insecureSkipVerify: false, token: () => Promise.resolve(undefined) });
    authentication = delegatedAuthentication({ client, anonymous: true });
    const { authorizer } = delegatedAuthorization({ client });
    served = await serve(withRequestInfo(), withAuthentication(authentication), withImpersonation(authorizer), withAuthorization(authorizer), (_req, res) => res.end(JSON.stringify(contextOf(res).user)));
    authentication.start();
    await eventually('authentication is configured', async () => authentication.ready() === undefined);

    await create('/api/v1/namespaces', { metadata: { name: namespace } });
    await grant('identity-reader', [read], { kind: 'User', name: 'reader' });
    await grant('identity-readers', [read], { kind: 'Group', name: 'readers' });
    await grant('identity-accounts', [read], { kind: 'Group', name: `system:serviceaccounts:${namespace}` });
    for (const [at, [, rules]] of Object.entries(grants).entries()) {
      for (const to of Object.keys(identities).keys()) {
        if (rules.length > 0) await grant(`identity-${at}-${to}`, rules, { kind: 'User', name: `tester-${at}-${to}` });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // for the authorizer's own caches
  });
  after(async () => {
    await authentication.stop();
    await served.close();
    client.close();
  });

  for (const [at, name] of Object.keys(grants).entries()) {
    for (const [to, [identity, lines]] of Object.entries(identities).entries()) {
      it(`impersonation of ${identity} with permission for ${name} ends as at the kube-apiserver`, async () => {
        // a user of its own each: which mode is tried first depends on what let the user through before
        const [theirs, ours] = await both(`tester-${at}-${to}`, 'GET', `/api/v1/namespaces/${namespace}/configmaps`, lines);
        assert.deepEqual([ours.status, ours.body.message, ours.body.details], [theirs.status, theirs.body.message, theirs.body.details]);
        outcomes.set(ours.status, (outcomes.get(ours.status) ?? 0) + 1);
      });
    }
  }

  it('was compared where impersonation succeeds, is forbidden, and makes no sense', () => {
    for (const status of [200, 400, 403]) assert.ok((outcomes.get(status) ?? 0) >= Object.keys(grants).length, `${status}: ${outcomes.get(status)}`);
  });

  for (const { user, method, path } of [
    { user: 'reader', method: 'GET', path: `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt` },
    { user: 'reader', method: 'DELETE', path: `/api/v1/namespaces/${namespace}/configmaps` },
    { user: 'reader', method: 'DELETE', path: `/api/v1/namespaces/${namespace}/configmaps/x` },
    { user: 'reader', method: 'GET', path: '/api/v1/secrets' },
    { user: 'reader', method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/p/log` },
    { user: 'reader', method: 'GET', path: `/api/v1/namespaces/${namespace}` },
    { user: 'reader', method: 'GET', path: '/apis/apps/v1/watch/namespaces/x/deployments' },
    { user: 'reader', method: 'POST', path: `/apis/apps/v1/namespaces/${namespace}/deployments/d/scale` },
    { user: 'reader', method: 'PUT', path: `/api/v1/namespaces/${namespace}/configmaps/a%2Fb` },
    { user: 'reader', method: 'GET', path: '/api/v1/namespaces//secrets/x' },
    { user: 'reader', method: 'GET', path: '/metrics' },
    { user: 'reader', method: 'POST', path: '/logs/<x>?y=z' },
    { user: 'zoë "x"', method: 'GET', path: '/api/v1/nodes?fieldSelector=metadata.name%3Dn1' },
    { user: 'reader', method: 'GET', path: '/api/v1/nodes?fieldSelector=metadata.name%3Da%2Fb' },
  ]) {
    it(`${method} ${path} of ${user} is refused or passed as at the kube-apiserver`, async () => {
      const [theirs, ours] = await both(user, method, path, []);
      if (ours.status === 200) assert.notEqual(theirs.status, 403);
      else assert.deepEqual([ours.status, ours.body.message, ours.body.details], [theirs.status, theirs.body.message, theirs.body.details]);
    });
  }

  it('knows the user of a ServiceAccount token, and reads certificates as the kube-apiserver does', async () => {
    const answer = await controlPlane.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`, body: { spec: {} } });
    const { token } = (answer.json() as { status: { token: string } }).status;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { body } = await served.connect('HTTP/1.1').ask('GET', path, ['Authorization', `Bearer ${token}`]);
    assert.equal(body.username, `system:serviceaccount:${namespace}:default`);
    assert.deepEqual(body.groups, ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']);

    const { certPem, keyPem } = await controlPlane.clientAuthority.issue({ commonName: 'reader', organizations: ['a', 'b'], usages: ['client'] });
    const certificate = { cert: certPem, key: keyPem };
    const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const asking = new KubeClient({ server: new URL(controlPlane.url), ca: controlPlane.caPem, ...certificate, insecureSkipVerify: false, token: () => Promise.resolve(undefined) });
    const { status } = await asking.json<{ status: { userInfo: unknown } }>({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: whoAmI });
    asking.close();
    const ours = await served.connect('HTTP/2', certificate).ask('GET', path);
    assert.deepEqual(ours.body, status.userInfo);
  });

  it('believes the kube-apiserver\'s front proxy and nobody else', async () => {
    const { client: front, authority } = controlPlane.frontProxy;
    const lines = ['X-Remote-User', 'reader', 'X-Remote-Group', 'g'];
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const trusted = await served.connect('HTTP/2', { cert: front.certPem, key: front.keyPem }).ask('GET', path, lines);
    assert.deepEqual([trusted.body.username, trusted.body.groups], ['reader', ['g', 'system:authenticated']]);
    const other = await authority.issue({ commonName: 'not-the-front', usages: ['client'] });
    assert.equal((await served.connect('HTTP/2', { cert: other.certPem, key: other.keyPem }).ask('GET', path, lines)).status, 401);
  });

  it('says what a ServiceAccount lacks to read the configuration, and recovers once it has it', async () => {
    await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'poor' } });
    const answer = await controlPlane.request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/poor/token', body: { spec: {} } });
    const { token } = (answer.json() as { status: { token: string } }).status;
    const poor = new KubeClient({ server: new URL(controlPlane.url), ca: controlPlane.caPem, insecureSkipVerify: false, token: () => Promise.resolve(token) });
    const waiting = delegatedAuthentication({ client: poor, anonymous: false });
    waiting.start();
    await eventually('the missing role is named', async () => /bind the role extension-apiserver-authentication-reader/.test(waiting.ready() ?? ''));
    await create('/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings', {
      metadata: { name: 'identity-reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'poor', namespace: 'default' }],
    });
    await eventually('the configuration is read', async () => waiting.ready() === undefined);
    await waiting.stop();
    poor.close();
  });
});
