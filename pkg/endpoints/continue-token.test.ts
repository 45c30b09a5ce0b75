import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hasCode } from '../kube/status-error.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';

describe('continue token', () => {
  it('reads back what it wrote', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.stringMatching(/^[a-z]{1,9}(\/[a-z]{1,9})?$/), (version, key) =>
        assert.deepEqual(decodeContinue(encodeContinue({ version, start: `${key}\0` })), { version, start: `${key}\0` }),
      ),
    ));

  it('takes the leading slash that the cache of the kube-apiserver writes', () =>
    assert.equal(decodeContinue(encodeContinue({ version: 5, start: '/n/a\0' })).start, 'n/a\0'));

  it("is the kube-apiserver's own form", () =>
    assert.equal(Buffer.from(encodeContinue({ version: 5, start: 'a\0' }), 'base64url').toString(), '{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"}'));

  for (const token of ['', 'x', '!!!', ...[{}, { v: 'other' }, { v: 'meta.k8s.io/v1', rv: 0, start: 'a' }, { v: 'meta.k8s.io/v1', rv: 5, start: '' }, { v: 'meta.k8s.io/v1', rv: 5, start: '../x' }].map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'))]) {
    it(`${JSON.stringify(token)} is a bad request`, () => assert.throws(() => decodeContinue(token), (error) => hasCode(error, 400)));
  }
});
