import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { hasCode } from '../kube/status-error.ts';
import { fieldSelector } from './field-selector.ts';

const object = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'x', namespace: 'n' } };

describe('fieldSelector', () => {
  for (const [selector, matches] of [
    ['', true],
    ['metadata.name=x', true],
    ['metadata.name==x', true],
    ['metadata.name!=x', false],
    ['metadata.name=x,metadata.namespace=n', true],
    ['metadata.name=x,metadata.namespace!=n', false],
    ['metadata.name=x\\,y', false],
    ['metadata.name=', false],
  ] as const) {
    it(`${JSON.stringify(selector)} ${matches ? 'matches' : 'does not match'}`, () => assert.equal(fieldSelector(selector, tenants).matches(object), matches));
  }

  for (const selector of ['spec.host=x', 'metadata.name', 'metadata.name=a=b', 'metadata.name=a\\b', '=x', 'metadata.name=\\']) {
    it(`${JSON.stringify(selector)} is a bad request`, () => assert.throws(() => fieldSelector(selector, tenants), (error) => hasCode(error, 400)));
  }
});
