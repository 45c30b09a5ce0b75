import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { SubmitReview } from '../authentication/review.ts';
import { hasCode, StatusError } from '../kube/status-error.ts';
import { alwaysAllowGroups, alwaysAllowPaths } from './always-allow.ts';
import type { Attributes, Authorizer } from './authorizer.ts';
import { forbidden } from './forbidden.ts';
import { quoted } from './go-text.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { specOf, subjectAccessReviewAuthorizer, type SubjectAccessReviewSpec } from './subject-access-review.ts';

const request = (part: Partial<Attributes> = {}): Attributes => ({
  user: { username: 'u', groups: ['g'], extra: {} },
  isResourceRequest: true,
  verb: 'get',
  path: '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants/x',
  apiGroup: 'apps.cozystack.io',
  apiVersion: 'v1alpha1',
  namespace: 'n',
  resource: 'tenants',
  subresource: '',
  name: 'x',
  ...part,
});
const path = (verb: string, asked: string): Attributes =>
  request({ isResourceRequest: false, verb, path: asked, apiGroup: '', apiVersion: '', namespace: '', resource: '', name: '' });

describe('forbidden', () => {
  for (const { attributes, reason = '', message } of [
    { attributes: request(), message: 'tenants.apps.cozystack.io "x" is forbidden: User "u" cannot get resource "tenants" in API group "apps.cozystack.io" in the namespace "n"' },
    { attributes: request({ verb: 'list', namespace: '', name: '' }), message: 'tenants.apps.cozystack.io is forbidden: User "u" cannot list resource "tenants" in API group "apps.cozystack.io" at the cluster scope' },
    { attributes: request({ verb: 'update', subresource: 'status' }), reason: 'why <so>', message: 'tenants.apps.cozystack.io "x" is forbidden: User "u" cannot update resource "tenants/status" in API group "apps.cozystack.io" in the namespace "n": why <so>' },
    { attributes: request({ apiGroup: '', resource: 'users', name: 'bob', namespace: '', verb: 'impersonate' }), message: 'users "bob" is forbidden: User "u" cannot impersonate resource "users" in API group "" at the cluster scope' },
    { attributes: path('get', '/metrics'), message: 'forbidden: User "u" cannot get path "/metrics"' },
    { attributes: { ...path('get', '/<a>'), user: { username: 'a"&b', groups: [], extra: {} } }, message: String.raw`forbidden: User "a\"&amp;b" cannot get path "/&lt;a&gt;"` },
  ] as { attributes: Attributes; reason?: string; message: string }[]) {
    it(message, () => assert.equal(forbidden(attributes, reason).message, message));
  }
  it('names what was asked for in its details', () => {
    assert.deepEqual(forbidden(request(), '').status.details, { name: 'x', group: 'apps.cozystack.io', kind: 'tenants' });
    assert.deepEqual(forbidden(path('get', '/x'), '').status.details, {});
  });
});

describe('quoted', () => {
  for (const [text, result] of [['plain text', '"plain text"'], ['"\\\n\u0001\u007f', String.raw`"\"\\\n\x01\x7f"`], ['zoë ☂', '"zoë ☂"'], ['\u00a0\u200b', String.raw`"\u00a0\u200b"`], ['\u{e0001}', String.raw`"\U000e0001"`]] as const) {
    it(result, () => assert.equal(quoted(text), result));
  }
});

describe('always allow', () => {
  const never: Authorizer = { authorize: () => Promise.resolve({ allowed: false, reason: 'asked' }) };
  const paths = alwaysAllowPaths(['/healthz', 'readyz', '/open/*', '/'], never);
  for (const [attributes, allowed] of [
    [path('get', '/healthz'), true], [path('post', '/readyz'), true], [path('get', '/open/a/b'), true], [path('get', '/'), true],
    [path('get', '/healthz/x'), false], [path('get', '/open'), false], [path('get', '//healthz'), false], [request({ path: '/healthz' }), false],
  ] as const) {
    it(`${allowed ? 'allows' : 'asks about'} ${attributes.verb} ${attributes.path}`, async () => assert.equal((await paths.authorize(attributes)).allowed, allowed));
  }
  it('takes a star only at the end', () => assert.throws(() => alwaysAllowPaths(['/a*b'], never), /only trailing \* allowed in "a\*b"/));
  it('allows members of a group', async () => {
    const groups = alwaysAllowGroups(['system:masters'], never);
    assert.equal((await groups.authorize(request({ user: { username: 'u', groups: ['a', 'system:masters'], extra: {} } }))).allowed, true);
    assert.equal((await groups.authorize(request())).allowed, false);
  });
});

describe('subjectAccessReviewAuthorizer', () => {
  const reviewing = (answer: (spec: SubjectAccessReviewSpec) => object | Promise<object>) => {
    const asked: SubjectAccessReviewSpec[] = [];
    const submit = (async (_path: string, review: { spec: SubjectAccessReviewSpec }) => {
      asked.push(review.spec);
      return { ...review, status: await answer(review.spec) };
    }) as unknown as SubmitReview;
    return { asked, submit };
  };

  it('asks with every attribute', () =>
    assert.deepEqual(
      specOf(
        request({
          verb: 'deletecollection',
          subresource: 'status',
          user: { username: 'u', uid: '1', groups: ['a,b'], extra: { k: ['v'] } },
          fieldRequirements: parseFieldSelector('a=1,b!=2'),
          labelRequirements: parseLabelSelector('x in (1,2),!y,z,w>5,v!=3'),
        }),
      ),
      {
        resourceAttributes: {
          namespace: 'n', verb: 'deletecollection', group: 'apps.cozystack.io', version: 'v1alpha1', resource: 'tenants', subresource: 'status', name: 'x',
          fieldSelector: { requirements: [{ key: 'a', operator: 'In', values: ['1'] }, { key: 'b', operator: 'NotIn', values: ['2'] }] },
          labelSelector: {
            requirements: [
              { key: 'v', operator: 'NotIn', values: ['3'] },
              { key: 'x', operator: 'In', values: ['1', '2'] },
              { key: 'y', operator: 'DoesNotExist' },
              { key: 'z', operator: 'Exists' },
            ],
          },
        },
        user: 'u', uid: '1', groups: ['a,b'], extra: { k: ['v'] },
      },
    ));
  it('asks about a path', () => assert.deepEqual(specOf(path('get', '/metrics')), { nonResourceAttributes: { path: '/metrics', verb: 'get' }, user: 'u', groups: ['g'], extra: {} }));

  it('keeps allow and deny for their time, and asks once at a time', async () => {
    let time = 0;
    const { asked, submit } = reviewing(({ user }) => ({ allowed: user === 'u', reason: user }));
    const { authorize } = subjectAccessReviewAuthorizer({ submit, allowTtlMs: 10, denyTtlMs: 5, now: () => time });
    const mallory = request({ user: { username: 'm', groups: [], extra: {} } });
    await Promise.all([authorize(request()), authorize(request())]);
    assert.deepEqual(await authorize(mallory), { allowed: false, reason: 'm' });
    time = 6;
    await authorize(request());
    assert.equal(asked.length, 2);
    await authorize(mallory);
    time = 11;
    await authorize(request());
    assert.equal(asked.length, 4);
  });

  it('tells questions apart by every attribute', async () => {
    const { asked, submit } = reviewing(() => ({ allowed: true }));
    const { authorize } = subjectAccessReviewAuthorizer({ submit });
    const variants: Partial<Attributes>[] = [
      {}, { verb: 'list' }, { apiGroup: 'b' }, { apiVersion: 'v2' }, { namespace: 'm' }, { resource: 'r' }, { subresource: 'status' }, { name: 'y' },
      { fieldRequirements: parseFieldSelector('a=1') }, { labelRequirements: parseLabelSelector('a=1') },
      { user: { username: 'u', uid: '1', groups: ['g'], extra: {} } }, { user: { username: 'u', groups: ['g,h'], extra: {} } },
      { user: { username: 'u', groups: ['g', 'h'], extra: {} } }, { user: { username: 'u', groups: ['g'], extra: { a: ['b'] } } }, { isResourceRequest: false },
      { name: 'a'.repeat(2_000) }, { name: `${'a'.repeat(1_999)}b` },
    ];
    for (const variant of variants) await authorize(request(variant));
    assert.equal(asked.length, variants.length);
  });

  it('keeps no answer to an overlong question', async () => {
    const { asked, submit } = reviewing(() => ({ allowed: true }));
    const { authorize } = subjectAccessReviewAuthorizer({ submit });
    for (let times = 0; times < 2; times += 1) await authorize(request({ name: 'x'.repeat(10_000) }));
    assert.equal(asked.length, 2);
  });

  for (const [status, allowed] of [[{ allowed: true }, true], [{ allowed: true, denied: true }, false], [{ denied: true }, false], [{}, false], [{ allowed: 'yes' }, false]] as const) {
    it(`${allowed ? 'allows' : 'denies'} at ${JSON.stringify(status)}`, async () =>
      assert.equal((await subjectAccessReviewAuthorizer({ submit: reviewing(() => status).submit }).authorize(request())).allowed, allowed));
  }

  for (const error of [new StatusError(403, 'Forbidden', 'we may not ask'), StatusError.unavailable('down'), new SyntaxError('no JSON')]) {
    it(`answers 503 with Retry-After to ${error.message}, and asks again`, async () => {
      let failing = true;
      const { submit } = reviewing(() => (failing ? Promise.reject(error) : { allowed: true }));
      const { authorize } = subjectAccessReviewAuthorizer({ submit });
      await assert.rejects(authorize(request()), (thrown) => hasCode(thrown, 503) && thrown.status.details?.retryAfterSeconds === 1 && !thrown.message.includes(error.message));
      failing = false;
      assert.equal((await authorize(request())).allowed, true);
    });
  }
});
