import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { extraLines, headerLines } from '../authentication/headers.ts';
import { impersonationHeaders, type Projection } from './identity.ts';

const none: Projection = { forwardUid: false, extras: { mode: 'none', allowlist: new Set() } };
const all: Projection = { forwardUid: true, extras: { mode: 'all', allowlist: new Set() } };
const user = { username: 'alice', uid: 'u-1', groups: ['a', 'b,c'], extra: { 'authentication.kubernetes.io/credential-id': ['x'], scopes: ['p', 'q'] } };

describe('impersonationHeaders', () => {
  it('are user and groups alone, one line a group', () => assert.deepEqual(impersonationHeaders(user, none), { 'impersonate-user': 'alice', 'impersonate-group': ['a', 'b,c'] }));
  it('hold the uid where it is to be sent', () => assert.equal(impersonationHeaders(user, all)['impersonate-uid'], 'u-1'));
  it('hold extras with escaped keys', () => {
    const headers = impersonationHeaders(user, all);
    assert.deepEqual(headers['impersonate-extra-authentication.kubernetes.io%2fcredential-id'], ['x']);
    assert.deepEqual(headers['impersonate-extra-scopes'], ['p', 'q']);
  });
  it('escape what only looks like a letter once case is folded', () =>
    assert.deepEqual(Object.keys(impersonationHeaders({ ...user, extra: { 'ſ\u212a': ['x'] } }, all)).at(-1), 'impersonate-extra-%c5%bf%e2%84%aa'));
  it('hold the extras of an allowlist, and no other', () => {
    const headers = impersonationHeaders(user, { forwardUid: false, extras: { mode: 'allowlist', allowlist: new Set(['scopes']) } });
    assert.deepEqual(Object.keys(headers), ['impersonate-user', 'impersonate-group', 'impersonate-extra-scopes']);
  });
  it('are read by a server as the user that they were made from', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }).map((key) => key.toLowerCase()), (name, key) => {
        const headers = impersonationHeaders({ username: name, groups: [name], extra: { [key]: [name] } }, all);
        const raw = Object.entries(headers).flatMap(([header, value]) => [value].flat().flatMap((line) => [header, line as string]));
        for (let at = 0; at < raw.length; at += 2) assert.match(raw[at]!, /^[a-z0-9!#$%&'*+.^_`|~-]+$/);
        assert.deepEqual(headerLines(raw, 'impersonate-user'), [name]);
        assert.deepEqual([...extraLines(raw, 'impersonate-extra-')], [[key, [name]]]);
      }),
    ));
});
