import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { tenantGatewayStrategy, tenantGatewayStrategyFor } from './strategy.ts';

const gateway = (spec: object): KubeObject => ({ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { name: 'a', namespace: 'b' }, spec: { apex: 'example.org', ...spec } });

describe('the issuers that a TenantGateway may name', () => {
  const strategy = tenantGatewayStrategyFor(['internal', 'letsencrypt-prod']);
  const unsupported = [{ reason: 'FieldValueNotSupported', field: 'spec.issuerName', message: 'Unsupported value: "letsencrypt-stage": supported values: "internal", "letsencrypt-prod"' }];
  const named = (issuerName: unknown): KubeObject => gateway({ issuerName });
  for (const { name, object, old, causes } of [
    { name: 'one of them', object: named('internal'), causes: [] },
    { name: 'none', object: gateway({}), causes: [] },
    { name: 'another', object: named('letsencrypt-stage'), causes: unsupported },
    { name: 'another, set on an object that is there', object: named('letsencrypt-stage'), old: named('internal'), causes: unsupported },
    { name: 'another that it had before', object: named('letsencrypt-stage'), old: named('letsencrypt-stage'), causes: [] },
    { name: 'what is no text, which the schema refuses', object: named(1), causes: [] },
  ])
    it(name, () => assert.deepEqual(strategy.validate(object, old), causes));

  it('are the enumeration in the documents that clients read', () => {
    const { properties } = strategy.definition.schema as unknown as { properties: { spec: { properties: { issuerName: { enum: string[] } } } } };
    assert.deepEqual(properties.spec.properties.issuerName.enum, ['internal', 'letsencrypt-prod']);
  });

  it('are the defaults where the operator names none', () => {
    assert.deepEqual(tenantGatewayStrategy.validate(named('letsencrypt-stage')), []);
    assert.equal(tenantGatewayStrategy.validate(named('internal')).length, 1);
  });
});
