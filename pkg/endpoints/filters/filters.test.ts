import { after, before, beforeEach, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { RequestHandler } from 'express';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { makeAuthority, makeClient, type Fixture } from '../../authentication/certificate-fixtures.ts';
import { delegatedAuthentication } from '../../authentication/delegated.ts';
import type { SubmitReview } from '../../authentication/review.ts';
import type { UserInfo } from '../../authentication/user.ts';
import type { Attributes, Authorizer } from '../../authorization/authorizer.ts';
import { KubeClient } from '../../kube/client.ts';
import type { ReflectorHandler } from '../../kube/reflector.ts';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import { withAuditId } from './audit-id.ts';
import { withAuthentication } from './authentication.ts';
import { withAuthorization } from './authorization.ts';
import { withCacheControl } from './cache-control.ts';
import { wantedUserOf, withImpersonation } from './impersonation.ts';
import { withPanicRecovery } from './panic-recovery.ts';
import { withRequestInfo } from './request-info.ts';
import { serve, type ClientCertificate, type Protocol, type Served } from './served-fixture.ts';

const tenants = '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants';
const wire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const chain = (...fixtures: Fixture[]): ClientCertificate => ({ cert: fixtures.map(({ certPem }) => certPem).join(''), key: fixtures[0]!.keyPem });

/** Shows what a handler sees of a request. */
const echo: RequestHandler = (req, res) => {
  const { user, impersonator, auditId, warnings, auditAnnotations } = contextOf(res);
  const raw = req.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  res.end(JSON.stringify({ user, impersonator, auditId, warnings: [...warnings], annotations: [...auditAnnotations], seen: [...new Set([...raw, ...Object.keys(req.headers)])], headers: req.headers }));
};
const as = (user: UserInfo): RequestHandler => (_req, res, next) => {
  contextOf(res).user = user;
  next();
};
const alice: UserInfo = { username: 'alice', groups: ['g'], extra: {} };

const frontCa = makeAuthority({ commonName: 'front-ca' });
const between = makeAuthority({ commonName: 'between', issuer: frontCa, key: 'ed25519' });
const front = makeClient(between, { commonName: 'front-proxy', key: 'rsa' });
const clientCa = makeAuthority({ commonName: 'client-ca' });
const carol = makeClient(clientCa, { commonName: 'carol', attributes: [['2.5.4.10', 'ops']] });

for (const protocol of ['HTTP/1.1', 'HTTP/2'] satisfies Protocol[]) {
  describe(`withAuthentication over ${protocol}`, () => {
    let served: Served;
    let feed: ReflectorHandler;
    const configMap = (roots: Fixture, extraData: Record<string, string> = {}): KubeObject => ({
      apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'extension-apiserver-authentication' },
      data: {
        'requestheader-client-ca-file': roots.certPem,
        'requestheader-allowed-names': '["front-proxy"]',
        'requestheader-username-headers': '["X-Remote-User","X-Custom-User"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
        'client-ca-file': clientCa.certPem,
        ...extraData,
      },
    });
    const submit = ((_path: string, review: { spec: { token: string } }) => {
      if (review.spec.token === 'down') return Promise.reject(StatusError.unavailable('down'));
      return Promise.resolve({ status: review.spec.token === 'good' ? { authenticated: true, user: { username: 'tom', groups: [] } } : { error: 'unknown' } });
    }) as unknown as SubmitReview;

    before(async () => {
      const authentication = delegatedAuthentication({
        client: new KubeClient({ server: new URL('https://127.0.0.1:1'), insecureSkipVerify: false, token: () => Promise.resolve(undefined) }),
        anonymous: false,
        submit,
        source: (handler) => {
          feed = handler as ReflectorHandler;
          return { start: () => undefined, stop: () => Promise.resolve() };
        },
      });
      served = await serve(withRequestInfo(), withAuthentication(authentication), echo);
    });
    beforeEach(() => feed.replace([configMap(frontCa)], '1'));
    after(() => served.close());

    it('believes the front proxy, through its intermediate, line by line and in UTF-8', async () => {
      const connection = served.connect(protocol, chain(front, between));
      const { body } = await connection.ask('GET', tenants, [
        'X-Remote-User', wire('zoë'), 'X-Remote-Group', 'a, b', 'x-remote-group', 'c', 'X-Remote-Extra-Example.org%2fKey', 'v', 'X-Remote-Uid', '7',
        'Authorization', 'Bearer bad', 'X-Custom-User', 'x', 'X-Keep', 'y',
      ]);
      assert.deepEqual(body.user, { username: 'zoë', uid: '7', groups: ['a, b', 'c', 'system:authenticated'], extra: { 'example.org/key': ['v'] } });
      assert.deepEqual(body.seen.filter((name: string) => /remote|custom|authorization/.test(name)), []);
      assert.ok(body.seen.includes('x-keep'));
    });

    it('goes by a new ConfigMap for the next request of an open connection', async () => {
      const connection = served.connect(protocol, chain(front, between));
      const user = ['X-Remote-User', 'u'];
      assert.equal((await connection.ask('GET', tenants, user)).status, 200);
      feed.event('MODIFIED', configMap(clientCa));
      assert.equal((await connection.ask('GET', tenants, user)).status, 401);
      feed.event('MODIFIED', configMap(frontCa, { 'requestheader-allowed-names': '["other"]' }));
      assert.equal((await connection.ask('GET', tenants, user)).status, 401);
      feed.event('MODIFIED', configMap(frontCa, { 'requestheader-allowed-names': '[]' }));
      assert.equal((await connection.ask('GET', tenants, user)).status, 200);
    });

    it('serves what the ConfigMap holds, be it one part alone', async () => {
      const only = (part: (key: string) => boolean): KubeObject => {
        const whole = configMap(frontCa) as KubeObject & { data: Record<string, string> };
        return { ...whole, data: Object.fromEntries(Object.entries(whole.data).filter(([key]) => part(key))) } as KubeObject;
      };
      const ofFront = served.connect(protocol, chain(front, between));
      const ofCarol = served.connect(protocol, chain(carol));
      const statuses = async (): Promise<number[]> => [(await ofFront.ask('GET', tenants, ['X-Remote-User', 'u'])).status, (await ofCarol.ask('GET', tenants)).status];
      feed.replace([only((key) => key.startsWith('requestheader-'))], '2');
      assert.deepEqual(await statuses(), [200, 401]);
      feed.replace([only((key) => key === 'client-ca-file')], '3');
      assert.deepEqual(await statuses(), [401, 200]);
    });

    const forged = ['X-Remote-User', 'mallory', 'X-Remote-Group', 'system:masters'];
    for (const { name, certificate, lines, status, username } of [
      { name: 'forged headers without certificate', lines: forged, status: 401 },
      { name: 'no proof at all', lines: [], status: 401 },
      { name: 'forged headers with a client certificate', certificate: chain(carol), lines: forged, status: 200, username: 'carol' },
      { name: 'a front proxy that names nobody', certificate: chain(front, between), lines: [], status: 401 },
      { name: 'a missing intermediate', certificate: chain(front), lines: forged, status: 401 },
      { name: 'a token', lines: ['Authorization', 'Bearer good', ...forged], status: 200, username: 'tom' },
      { name: 'a bad token', lines: ['Authorization', 'Bearer bad'], status: 401 },
      { name: 'a good token over an untrusted certificate', certificate: chain(makeClient(makeAuthority({ commonName: 'client-ca' }))), lines: ['Authorization', 'Bearer good'], status: 200, username: 'tom' },
      { name: 'a token that nobody can review', lines: ['Authorization', 'Bearer down'], status: 503 },
    ] as { name: string; certificate?: ClientCertificate; lines: string[]; status: number; username?: string }[]) {
      it(`answers ${status} to ${name}`, async () => {
        const answer = await served.connect(protocol, certificate).ask('GET', tenants, lines);
        assert.equal(answer.status, status);
        if (status === 200) {
          assert.equal(answer.body.user.username, username);
          assert.ok(!answer.body.user.groups.includes('system:masters'));
          assert.ok(!answer.body.seen.some((seen: string) => seen.startsWith('x-remote') || seen === 'authorization'));
        } else {
          assert.equal(answer.body.kind, 'Status');
          assert.equal(answer.body.reason, status === 401 ? 'Unauthorized' : 'ServiceUnavailable');
        }
      });
    }
  });

  describe(`withImpersonation over ${protocol}`, () => {
    let served: Served;
    const allowed = new Set(['impersonate users bob', 'impersonate groups dev,ops', 'impersonate userextras a']);
    const authorizer: Authorizer = {
      authorize: ({ user, verb, resource, name }) => Promise.resolve({ allowed: user.username === 'alice' && allowed.has(`${verb} ${resource} ${name}`), reason: '' }),
    };
    before(async () => {
      served = await serve(withRequestInfo(), as(alice), withImpersonation(authorizer), echo);
    });
    after(() => served.close());

    it('lets the request go on in the other name, without the headers', async () => {
      const { body } = await served.connect(protocol).ask('GET', tenants, ['impersonate-USER', 'bob', 'Impersonate-Group', 'dev,ops', 'Impersonate-Extra-K%2F1', 'a', 'Impersonate-User', 'eve']);
      assert.deepEqual(body.user, { username: 'bob', groups: ['dev,ops', 'system:authenticated'], extra: { 'k/1': ['a'] } });
      assert.equal(body.impersonator.username, 'alice');
      assert.ok(!body.seen.some((name: string) => name.startsWith('impersonate-')));
    });
    it('leaves a request without such headers alone', async () => {
      const { body } = await served.connect(protocol).ask('GET', tenants);
      assert.equal(body.user.username, 'alice');
      assert.equal(body.impersonator, undefined);
    });
    it('refuses what is not permitted', async () => {
      const { status, body } = await served.connect(protocol).ask('GET', tenants, ['Impersonate-User', 'eve']);
      assert.equal(status, 403);
      assert.match(body.message, /^users "eve" is forbidden: User "alice" cannot impersonate resource "users"|^tenants\.apps\.cozystack\.io is forbidden: User "alice" cannot impersonate-on:user-info:list/);
    });
    it('answers 400 to groups without a user', async () => {
      const { status, body } = await served.connect(protocol).ask('GET', tenants, ['Impersonate-Group', 'dev']);
      assert.equal(status, 400);
      assert.equal(body.message, 'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without impersonating a user name');
    });
  });

  describe(`further filters over ${protocol}`, () => {
    it('keeps the Audit-ID of the front, gives one where it is missing, and forbids caching', async () => {
      const served = await serve(withAuditId(() => 'made'), withCacheControl(), echo);
      const connection = served.connect(protocol);
      const kept = await connection.ask('GET', '/', ['Audit-ID', 'from-the-front']);
      assert.deepEqual([kept.headers['audit-id'], kept.body.auditId, kept.headers['cache-control']], ['from-the-front', 'from-the-front', 'no-cache, private']);
      assert.equal((await connection.ask('GET', '/')).headers['audit-id'], 'made');
      await served.close();
    });

    it('answers 400 to a path that cannot be decoded', async () => {
      const served = await serve(withRequestInfo(), echo);
      assert.equal((await served.connect(protocol).ask('GET', '/%zz')).status, 400);
      await served.close();
    });

    it('survives an answer that is written twice', async () => {
      const faults: string[] = [];
      const served = await serve(withPanicRecovery({ warn: (_fields, message) => faults.push(message) }), (_req, res) => {
        res.end('{}');
        res.write('more', () => undefined);
      });
      const connection = served.connect(protocol);
      await connection.ask('GET', '/').catch(() => undefined);
      await connection.ask('GET', '/').catch(() => undefined);
      await served.close();
    });

    for (const { name, decision, status, annotations } of [
      { name: 'an allow', decision: { allowed: true, reason: 'RBAC: yes' }, status: 200, annotations: [['authorization.k8s.io/decision', 'allow'], ['authorization.k8s.io/reason', 'RBAC: yes']] },
      { name: 'a deny', decision: { allowed: false, reason: 'no rule' }, status: 403 },
      { name: 'no answer', decision: StatusError.unavailable('down'), status: 503 },
    ]) {
      it(`authorizes: ${status} at ${name}`, async () => {
        const asked: Attributes[] = [];
        const served = await serve(withRequestInfo(), as(alice), withAuthorization({
          authorize: (attributes) => {
            asked.push(attributes);
            return decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision);
          },
        }), echo);
        const answer = await served.connect(protocol).ask('DELETE', `${tenants}?labelSelector=a%3Db&fieldSelector=%3D%3D%3D`);
        assert.equal(answer.status, status);
        assert.equal(asked[0]?.verb, 'deletecollection');
        assert.deepEqual(asked[0]?.labelRequirements, [{ key: 'a', operator: 'In', values: ['b'] }]);
        assert.deepEqual(asked[0]?.fieldRequirements, []);
        if (annotations) assert.deepEqual(answer.body.annotations, annotations);
        if (status === 403) assert.equal(answer.body.message, 'tenants.apps.cozystack.io is forbidden: User "alice" cannot deletecollection resource "tenants" in API group "apps.cozystack.io" in the namespace "n": no rule');
        await served.close();
      });
    }
  });
}

describe('wantedUserOf', () => {
  it('shows uid and extra values as Go does', () =>
    assert.throws(() => wantedUserOf(['Impersonate-Uid', '1', 'Impersonate-Extra-B', 'x', 'impersonate-extra-a', 'y"', 'impersonate-extra-a', 'z']), {
      message: String.raw`requested &user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"y\"", "z"}, "b":[]string{"x"}}} without impersonating a user name`,
    }));
  it('wants nobody where no header says so', () => assert.equal(wantedUserOf(['Impersonate-User', '', 'X', 'y']), undefined));
});
