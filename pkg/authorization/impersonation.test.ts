import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { hasCode, StatusError } from '../kube/status-error.ts';
import type { Attributes } from './authorizer.ts';
import { impersonation, type WantedUser } from './impersonation.ts';
import { serviceAccountOf } from './service-account.ts';

const wanted = (part: Partial<WantedUser>): WantedUser => ({ username: 'bob', uid: '', ...part });
const request = (part: Partial<Attributes> = {}): Attributes => ({
  user: { username: 'alice', groups: ['g'], extra: {} },
  isResourceRequest: true, verb: 'list', path: '', apiGroup: 'apps.cozystack.io', apiVersion: 'v1alpha1', namespace: 'n', resource: 'tenants', subresource: '', name: '',
  ...part,
});

/** A rule reads `verb group/resource[/subresource][:name][@namespace]`; what no rule names is refused. */
const ruleOf = ({ verb, apiGroup, resource, subresource, name, namespace }: Attributes): string =>
  `${verb} ${apiGroup}/${resource}${subresource && `/${subresource}`}${name && `:${name}`}${namespace && `@${namespace}`}`;
const withRules = (...rules: string[]) => {
  const asked: Attributes[] = [];
  const impersonate = impersonation({
    authorize: (attributes) => {
      asked.push(attributes);
      return Promise.resolve({ allowed: rules.includes(ruleOf(attributes)), reason: '' });
    },
  });
  return { impersonate, asked, rules };
};
const refused = (message: string) => (error: unknown): boolean => {
  assert.ok(hasCode(error, 403), String(error));
  assert.equal(error.message, message);
  return true;
};

const auth = 'authentication.k8s.io';
const list = (mode: string): string => `impersonate-on:${mode}:list apps.cozystack.io/tenants@n`;
const onListRefused = 'tenants.apps.cozystack.io is forbidden: User "alice" cannot impersonate-on:user-info:list resource "tenants" in API group "apps.cozystack.io" in the namespace "n"';

describe('impersonation, plain', () => {
  for (const { name, want, rules, groups, rest } of [
    { name: 'a user', want: {}, rules: ['impersonate /users:bob'], groups: ['system:authenticated'] },
    { name: 'a user with groups', want: { groups: ['a', 'b'] }, rules: ['impersonate /users:bob', 'impersonate /groups:a', 'impersonate /groups:b'], groups: ['a', 'b', 'system:authenticated'] },
    { name: 'a user of system:unauthenticated', want: { groups: ['system:unauthenticated'] }, rules: ['impersonate /users:bob', 'impersonate /groups:system:unauthenticated'], groups: ['system:unauthenticated'] },
    { name: 'the anonymous user', want: { username: 'system:anonymous' }, rules: ['impersonate /users:system:anonymous'], groups: ['system:unauthenticated'] },
    { name: 'the anonymous user as authenticated', want: { username: 'system:anonymous', groups: ['system:authenticated'] }, rules: ['impersonate /users:system:anonymous', 'impersonate /groups:system:authenticated'], groups: ['system:authenticated', 'system:unauthenticated'] },
    { name: 'masters', want: { groups: ['system:masters'] }, rules: ['impersonate /users:bob', 'impersonate /groups:system:masters'], groups: ['system:masters', 'system:authenticated'] },
    { name: 'a ServiceAccount', want: { username: 'system:serviceaccount:n:sa' }, rules: ['impersonate /serviceaccounts:sa@n'], groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'] },
    { name: 'a ServiceAccount with groups', want: { username: 'system:serviceaccount:n:sa', groups: ['a'] }, rules: ['impersonate /serviceaccounts:sa@n', 'impersonate /groups:a'], groups: ['a', 'system:authenticated'] },
    { name: 'what is no ServiceAccount', want: { username: 'system:serviceaccount:N:sa' }, rules: ['impersonate /users:system:serviceaccount:N:sa'], groups: ['system:authenticated'] },
    { name: 'a node', want: { username: 'system:node:n1' }, rules: ['impersonate /users:system:node:n1'], groups: ['system:authenticated'] },
    {
      name: 'uid and extra values', want: { uid: '7', extra: { scopes: ['x', 'y'] } },
      rules: ['impersonate /users:bob', `impersonate ${auth}/uids:7`, `impersonate ${auth}/userextras/scopes:x`, `impersonate ${auth}/userextras/scopes:y`],
      groups: ['system:authenticated'], rest: { uid: '7', extra: { scopes: ['x', 'y'] } },
    },
  ] as { name: string; want: Partial<WantedUser>; rules: string[]; groups: string[]; rest?: object }[]) {
    it(`permits ${name}`, async () => {
      const { impersonate, asked } = withRules(...rules);
      const { user, constraint } = await impersonate(wanted(want), request());
      assert.deepEqual(user, { username: want.username ?? 'bob', groups, extra: {}, ...rest });
      assert.equal(constraint, '');
      assert.ok(asked.every(({ user: asker }) => asker.username === 'alice'));
    });
    for (const missing of rules) {
      it(`refuses ${name} without '${missing}'`, () => assert.rejects(withRules(...rules.filter((rule) => rule !== missing)).impersonate(wanted(want), request()), (error) => hasCode(error, 403)));
    }
  }

  it('names the mode tried first in its refusal', () => assert.rejects(withRules().impersonate(wanted({}), request()), refused(onListRefused)));

  it('names users, groups, uids and extra values once plain impersonation is what the requestor uses', async () => {
    const { impersonate, rules } = withRules('impersonate /users:bob');
    await impersonate(wanted({}), request());
    await assert.rejects(impersonate(wanted({ groups: ['x'] }), request()), refused('groups "x" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope'));
    await assert.rejects(impersonate(wanted({ uid: '7' }), request()), refused('uids.authentication.k8s.io "7" is forbidden: User "alice" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope'));
    await assert.rejects(impersonate(wanted({ extra: { k: ['v'] } }), request()), refused('userextras.authentication.k8s.io "v" is forbidden: User "alice" cannot impersonate resource "userextras/k" in API group "authentication.k8s.io" at the cluster scope'));
    rules.length = 0;
    await assert.rejects(impersonate(wanted({}), request()), refused('users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope'));
  });

  it('tries nothing else when the review itself fails', async () => {
    let calls = 0;
    const impersonate = impersonation({ authorize: () => { calls += 1; return Promise.reject(StatusError.unavailable('down')); } });
    await assert.rejects(impersonate(wanted({}), request()), (error) => hasCode(error, 503));
    assert.equal(calls, 1);
  });
});

describe('impersonation, constrained', () => {
  it('permits a user for one request', async () => {
    const { impersonate } = withRules(list('user-info'), `impersonate:user-info ${auth}/users:bob`, `impersonate:user-info ${auth}/groups:a`);
    assert.deepEqual(await impersonate(wanted({ groups: ['a'] }), request()), { user: { username: 'bob', groups: ['a', 'system:authenticated'], extra: {} }, constraint: 'impersonate:user-info' });
    await assert.rejects(impersonate(wanted({ groups: ['a'] }), request({ verb: 'create' })), (error) => hasCode(error, 403));
  });
  it('permits a ServiceAccount', async () => {
    const { impersonate } = withRules(list('serviceaccount'), `impersonate:serviceaccount ${auth}/serviceaccounts:sa@n`);
    assert.equal((await impersonate(wanted({ username: 'system:serviceaccount:n:sa' }), request())).constraint, 'impersonate:serviceaccount');
  });
  it('permits any node', async () => {
    const { impersonate } = withRules(list('arbitrary-node'), `impersonate:arbitrary-node ${auth}/nodes:n1`);
    assert.deepEqual((await impersonate(wanted({ username: 'system:node:n1' }), request())).user.groups, ['system:nodes', 'system:authenticated']);
  });
  it('permits a ServiceAccount its own node, whatever its name', async () => {
    const { impersonate, asked } = withRules(list('associated-node'), `impersonate:associated-node ${auth}/nodes:*`);
    const user = { username: 'system:serviceaccount:n:agent', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n1'], a: ['b'] } };
    const { constraint } = await impersonate(wanted({ username: 'system:node:n1' }), request({ user }));
    assert.equal(constraint, 'impersonate:associated-node');
    assert.deepEqual(asked[0]?.user.extra, { 'authentication.kubernetes.io/associated-node-keys': ['a', 'authentication.kubernetes.io/node-name'] });
    await assert.rejects(impersonate(wanted({ username: 'system:node:n2' }), request({ user })), (error) => hasCode(error, 403));
  });
  it('asks for all groups at once where there are many', async () => {
    const { impersonate } = withRules(list('user-info'), `impersonate:user-info ${auth}/users:bob`, `impersonate:user-info ${auth}/groups:*`, `impersonate:user-info ${auth}/userextras/*:*`);
    const extra = { 'a.io/k': ['1', '2', '3', '4'] };
    assert.equal((await impersonate(wanted({ groups: ['1', '2', '3', '4'], extra }), request())).constraint, 'impersonate:user-info');
    await assert.rejects(impersonate(wanted({ groups: ['1', '2', '3'] }), request()), (error) => hasCode(error, 403));
  });

  const user = `impersonate:user-info ${auth}/users:bob`;
  for (const { want, message } of [
    { want: { groups: ['system:masters'] }, message: 'groups.authentication.k8s.io "system:masters" is forbidden: User "alice" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed' },
    { want: { groups: [''] }, message: 'groups.authentication.k8s.io is forbidden: User "alice" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the empty string group is not allowed' },
    { want: { extra: { scopes: ['x'] } }, message: 'userextras.authentication.k8s.io is forbidden: User "alice" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")' },
    { want: { extra: { 'a.io/B': ['x'] } }, message: 'userextras.authentication.k8s.io is forbidden: User "alice" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating a non-lowercase key in extra is not allowed: "a.io/B"' },
    { want: { extra: { 'a.io/b': [''] } }, message: 'userextras.authentication.k8s.io is forbidden: User "alice" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating the empty string value in extra is not allowed' },
  ] as { want: Partial<WantedUser>; message: string }[]) {
    it(message, () => assert.rejects(withRules(list('user-info'), user).impersonate(wanted(want), request()), refused(message)));
  }
});

describe('serviceAccountOf', () => {
  for (const [username, found] of [
    ['system:serviceaccount:n:a.b', { namespace: 'n', name: 'a.b' }],
    ['system:serviceaccount:n.m:a', undefined], ['system:serviceaccount:n', undefined], ['system:serviceaccount:n:', undefined],
    ['system:serviceaccount::a', undefined], ['system:serviceaccount:n:a:b', undefined], ['n:a', undefined],
  ] as const) {
    it(username, () => assert.deepEqual(serviceAccountOf(username), found));
  }
});
