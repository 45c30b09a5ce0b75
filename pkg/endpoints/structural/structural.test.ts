import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import { applyDefaults, dropNulls } from './default.ts';
import { coerceObject } from './coerce.ts';
import { coerceMetadata } from './object-meta.ts';
import { prune } from './prune.ts';
import type { JsonObject } from '../../json/object.ts';
import { structuralOf, type StructuralSchema } from './schema.ts';
import { validateSchema } from './validate.ts';

const tenant = structuralOf(tenants.schema);
const gateway = structuralOf(tenantGateways.schema);
const anyObject = fc.dictionary(fc.oneof(fc.constantFrom('spec', 'status', 'metadata', 'host', 'conditions', '__proto__', 'constructor'), fc.string()), fc.jsonValue()) as fc.Arbitrary<JsonObject>;

describe('structural defaults', () => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      plain: { type: 'string', default: 'd' },
      nested: { type: 'object', default: {}, properties: { inner: { type: 'integer', default: 1 } } },
      absent: { type: 'object', properties: { inner: { type: 'integer', default: 1 } } },
      list: { type: 'array', items: { type: 'object', properties: { a: { type: 'boolean', default: true } } } },
      map: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
      maybe: { type: 'string', nullable: true, default: 'n' },
    },
  };
  for (const { name, value, want } of [
    { name: 'fills in what is missing, and within defaults', value: {}, want: { plain: 'd', nested: { inner: 1 }, maybe: 'n' } },
    { name: 'leaves an absent object without default absent', value: { absent: {} }, want: { plain: 'd', nested: { inner: 1 }, maybe: 'n', absent: { inner: 1 } } },
    { name: 'replaces null where null is not allowed', value: { plain: null, nested: null, maybe: null }, want: { plain: 'd', nested: { inner: 1 }, maybe: null } },
    { name: 'goes into lists and maps', value: { list: [{}, 5], map: { a: null, b: 'y' } }, want: { plain: 'd', nested: { inner: 1 }, maybe: 'n', list: [{ a: true }, 5], map: { a: 'x', b: 'y' } } },
  ]) it(name, () => assert.deepEqual(applyDefaults(schema, value), want));

  it('gives each object its own copy of a default', () => {
    const one = applyDefaults(tenant, {}) as { spec: { resourceQuotas: object } };
    const two = applyDefaults(tenant, {}) as { spec: { resourceQuotas: object } };
    assert.notEqual(one.spec, two.spec);
    assert.notEqual(one.spec.resourceQuotas, two.spec.resourceQuotas);
  });
  it('is idempotent, and shares what is complete', () =>
    fc.assert(fc.property(anyObject, (value) => {
      const once = applyDefaults(tenant, value);
      assert.equal(applyDefaults(tenant, once), once);
    })));
  it('drops nulls that are neither allowed nor defaulted', () =>
    assert.deepEqual(dropNulls(schema, { plain: null, absent: null, maybe: null, list: [null], nested: { other: null } }), { plain: null, maybe: null, list: [null], nested: { other: null } }));
});

describe('pruning', () => {
  for (const { name, schema, object, unknown, value } of [
    { name: 'keeps the fields of every object', schema: tenant, object: { apiVersion: 'v', kind: 'k', metadata: { x: 1 } }, unknown: [], value: { apiVersion: 'v', kind: 'k', metadata: { x: 1 } } },
    { name: 'names what it drops, sorted', schema: tenant, object: { foo: 1, spec: { host: '', zed: {}, alpha: [1] } }, unknown: ['foo', 'spec.alpha', 'spec.zed'], value: { spec: { host: '' } } },
    {
      name: 'counts list items',
      schema: tenant,
      object: { status: { conditions: [{ type: 'A' }, { type: 'B', extra: 1 }] } },
      unknown: ['status.conditions[1].extra'],
      value: { status: { conditions: [{ type: 'A' }, { type: 'B' }] } },
    },
    { name: 'keeps the keys of maps', schema: tenant, object: { spec: { resourceQuotas: { 'limits.cpu': 1 } } }, unknown: [], value: { spec: { resourceQuotas: { 'limits.cpu': 1 } } } },
    { name: 'drops metadata below the root', schema: tenant, object: { spec: { metadata: {} } }, unknown: ['spec.metadata'], value: { spec: {} } },
    { name: 'is not fooled by inherited names', schema: tenant, object: { constructor: 1, spec: { toString: 1 } }, unknown: ['constructor', 'spec.toString'], value: { spec: {} } },
    { name: 'keeps what a schema says to keep', schema: { 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'object' } } }, object: { b: 1, a: { c: 1 } }, unknown: ['a.c'], value: { b: 1, a: {} } },
  ]) it(name, () => assert.deepEqual(prune(schema as StructuralSchema, object), { value, unknownFields: unknown }));

  it('leaves its input alone, and a pruned object as it is', () =>
    fc.assert(fc.property(anyObject, (object) => {
      const before = JSON.stringify(object);
      const { value } = prune(gateway, object);
      assert.equal(JSON.stringify(object), before);
      assert.deepEqual(prune(gateway, value), { value, unknownFields: [] });
    })));
  it('takes __proto__ as a plain key', () => {
    const { value, unknownFields } = prune(tenant, JSON.parse('{"__proto__":{"polluted":1},"spec":{"resourceQuotas":{"__proto__":1}}}') as JsonObject);
    assert.deepEqual(unknownFields, ['__proto__']);
    assert.equal(JSON.stringify(value), '{"spec":{"resourceQuotas":{"__proto__":1}}}');
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe('metadata', () => {
  it('is written back as Kubernetes writes it', () =>
    assert.deepEqual(coerceMetadata({ name: 'a', labels: {}, generation: 0, deletionGracePeriodSeconds: 0, creationTimestamp: '2024-01-02T03:04:05.678+01:00', ownerReferences: [{ name: 'o' }], zed: 1, foo: 2 }), {
      metadata: { name: 'a', deletionGracePeriodSeconds: 0, creationTimestamp: '2024-01-02T02:04:05Z', ownerReferences: [{ apiVersion: '', kind: '', name: 'o', uid: '' }] },
      unknownFields: ['metadata.foo', 'metadata.zed'],
    }));
  it('names unknown fields in lists', () =>
    assert.deepEqual(coerceMetadata({ ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '', extra: 1 }] }).unknownFields, ['metadata.ownerReferences[0].extra']));
  for (const { metadata, message } of [
    { metadata: 'x', message: 'json: cannot unmarshal string into Go value of type v1.ObjectMeta' },
    { metadata: { name: 5 }, message: 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string' },
    { metadata: { labels: { a: 1 } }, message: 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string' },
    { metadata: { labels: [] }, message: 'json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string' },
    { metadata: { generation: 1.5 }, message: 'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64' },
    { metadata: { ownerReferences: [{ name: true }] }, message: 'json: cannot unmarshal bool into Go struct field OwnerReference.ownerReferences.name of type string' },
    { metadata: { generation: 1e20 }, message: 'json: cannot unmarshal number 100000000000000000000 into Go struct field ObjectMeta.generation of type int64' },
    { metadata: { creationTimestamp: '2024-02-20T25:00:00Z' }, message: 'parsing time "2024-02-20T25:00:00Z": hour out of range' },
    { metadata: { creationTimestamp: '2023-02-29T00:00:00Z' }, message: 'parsing time "2023-02-29T00:00:00Z": day out of range' },
    { metadata: { creationTimestamp: '2024-02-20' }, message: 'parsing time "2024-02-20" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"' },
    { metadata: { creationTimestamp: '2024-02-20T10:00:00Zx' }, message: 'parsing time "2024-02-20T10:00:00Zx": extra text: "x"' },
    { metadata: { creationTimestamp: 'soon', name: 5 }, message: 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"' },
  ]) it(`refuses ${JSON.stringify(metadata)}`, () => assert.throws(() => coerceMetadata(metadata), { message }));
});

describe('coerceObject', () => {
  it('does it all, unknown metadata first', () =>
    assert.deepEqual(coerceObject(gateway, { apiVersion: 'v', kind: 'k', metadata: { zed: 1 }, abc: 1, spec: { apex: 'a', dns01: null } }), {
      value: { apiVersion: 'v', kind: 'k', metadata: {}, spec: { apex: 'a', certMode: 'http01', issuerName: 'letsencrypt-prod', gatewayClassName: 'cilium' } },
      unknownFields: ['metadata.zed', 'abc'],
    }));
  it('answers 400 to metadata of a wrong type', () =>
    assert.throws(() => coerceObject(tenant, { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: 5 }), {
      message: 'Tenant in version "v1alpha1" cannot be handled as a Tenant: json: cannot unmarshal number into Go value of type v1.ObjectMeta',
    }));
});

describe('validateSchema', () => {
  for (const { name, value, faults } of [
    { name: 'accepts an object without spec', value: {}, faults: [] },
    { name: 'accepts integers and strings as quantities', value: { spec: { resourceQuotas: { a: 1, b: '1Gi' } } }, faults: [] },
    { name: 'refuses a spec that is no object', value: { spec: 'x' }, faults: ['spec: Invalid value: "string": spec in body must be of type object: "string"'] },
    { name: 'finds every fault', value: { spec: { host: 1, etcd: 'y' } }, faults: ['spec.host: Invalid value: "integer": spec.host in body must be of type string: "integer"', 'spec.etcd: Invalid value: "string": spec.etcd in body must be of type boolean: "string"'] },
    { name: 'refuses null', value: { spec: null }, faults: ['spec: Invalid value: "null": spec in body must be of type object: "null"'] },
  ]) it(name, () => assert.deepEqual(validateSchema(tenant, value).map(({ field, message }) => `${field}: ${message}`), faults));
});
