import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { authenticatedGroupAdder, orAnonymous, union, type AuthenticationRequest, type Authenticator } from './authenticator.ts';
import type { UserInfo } from './user.ts';

const request: AuthenticationRequest = { rawHeaders: [], peerCertificates: () => [] };
const user = (username: string, ...groups: string[]): UserInfo => ({ username, groups, extra: {} });
const gives = (found: UserInfo | undefined): Authenticator => ({ authenticate: () => Promise.resolve(found) });
const fails = (message: string): Authenticator => ({ authenticate: () => Promise.reject(new Error(message)) });

describe('union', () => {
  it('takes the first match', async () => assert.equal((await union(gives(undefined), gives(user('a')), gives(user('b'))).authenticate(request))?.username, 'a'));
  it('forgets an error where another matches', async () => assert.equal((await union(fails('x'), gives(user('a'))).authenticate(request))?.username, 'a'));
  it('gives all errors where nobody matches', () =>
    assert.rejects(union(fails('x'), gives(undefined), fails('y')).authenticate(request), (error) => error instanceof AggregateError && error.message === 'x, y' && error.errors.length === 2));
  it('gives nobody where nobody matches and nothing failed', async () => assert.equal(await union(gives(undefined)).authenticate(request), undefined));
});

describe('authenticatedGroupAdder', () => {
  for (const [found, groups] of [
    [user('a', 'g'), ['g', 'system:authenticated']],
    [user('a', 'system:authenticated'), ['system:authenticated']],
    [user('a', 'system:unauthenticated'), ['system:unauthenticated']],
    [user('system:anonymous', 'g'), ['g']],
  ] as const) {
    it(`makes ${found.username} of ${found.groups.join()} a member of ${groups.join()}`, async () =>
      assert.deepEqual((await authenticatedGroupAdder(gives(found)).authenticate(request))?.groups, groups));
  }
  it('leaves nobody alone', async () => assert.equal(await authenticatedGroupAdder(gives(undefined)).authenticate(request), undefined));
});

describe('orAnonymous', () => {
  it('is anonymous without proof', async () =>
    assert.deepEqual(await orAnonymous(gives(undefined)).authenticate(request), user('system:anonymous', 'system:unauthenticated')));
  it('is not anonymous with a bad proof', () => assert.rejects(orAnonymous(fails('bad')).authenticate(request), /bad/));
});
