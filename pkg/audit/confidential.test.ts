import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { redacted, withoutConfidential } from './confidential.ts';

const secrets = { resource: 'secrets', apiVersion: 'v1' };
const canary = 'c2VjcmV0LWNhbmFyeQ==';
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"key":"${canary}"}}`, note: 'kept' } },
  data: { key: canary, none: null },
  stringData: { other: canary },
  type: 'Opaque',
};

describe('what is confidential', () => {
  for (const [name, body, reference] of [
    ['a Secret', secret, secrets],
    ['a list of Secrets', { kind: 'SecretList', items: [secret, secret] }, secrets],
    ['a table of Secrets', { kind: 'Table', rows: [{ cells: ['s', 'Opaque', 1], object: secret }] }, secrets],
    ['a merge patch of a Secret', { data: { key: canary } }, secrets],
    ['a JSON patch of a Secret', [{ op: 'add', path: '/data/key', value: canary }, { op: 'replace', path: '', value: secret }], secrets],
    ['data that is no mapping', { ...secret, data: canary, stringData: [canary] }, secrets],
    ['a TokenReview', { kind: 'TokenReview', spec: { token: canary } }, { apiGroup: 'authentication.k8s.io', resource: 'tokenreviews' }],
    ['an answered TokenRequest', { kind: 'TokenRequest', spec: {}, status: { token: canary, expirationTimestamp: 'x' } }, { resource: 'serviceaccounts', subresource: 'token' }],
  ] as const) {
    it(`is not recorded of ${name}`, () => {
      const before = JSON.stringify(body);
      const open = JSON.stringify(withoutConfidential(body, reference));
      assert.ok(!open.includes(canary), open);
      assert.ok(open.includes(redacted), open);
      assert.equal(JSON.stringify(body), before, 'the body itself is not touched');
    });
  }

  it('keeps keys, nulls, type and other annotations of a Secret', () => {
    const { data, type, metadata } = withoutConfidential(secret, secrets) as typeof secret;
    assert.deepEqual({ data, type, note: metadata.annotations.note }, { data: { key: redacted, none: null }, type: 'Opaque', note: 'kept' });
    assert.doesNotThrow(() => Buffer.from(redacted, 'base64').toString('base64') === redacted || assert.fail());
  });

  it('leaves operations without value, statuses, and everything else as it is', () => {
    assert.deepEqual(withoutConfidential([{ op: 'remove', path: '/data/key' }], secrets), [{ op: 'remove', path: '/data/key' }]);
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure' };
    assert.equal(withoutConfidential(status, secrets), status);
    const configMap = { kind: 'ConfigMap', data: { key: canary } };
    assert.equal(withoutConfidential(configMap, { resource: 'configmaps' }), configMap);
    assert.equal(withoutConfidential(secret, { apiGroup: 'example.org', resource: 'secrets' }), secret);
    assert.equal(withoutConfidential(undefined, undefined), undefined);
  });

  it('never comes through, whatever a Secret looks like', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('data', 'stringData'), fc.oneof(fc.constant(canary), fc.dictionary(fc.string(), fc.constant(canary)), fc.array(fc.constant(canary)))), (fields) => {
        assert.ok(!JSON.stringify(withoutConfidential({ kind: 'Secret', ...fields }, secrets)).includes(canary));
      }),
    ));
});
