import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject, Status } from '../../../api/meta/v1/types.ts';
import { recordDefinition } from '../../../api/records/v1alpha1/records.ts';
import { StatusError } from '../../kube/status-error.ts';
import { recordCodec } from './codec.ts';

const codec = recordCodec(tenants, recordDefinition(tenants));
const anyApiVersion = fc.constantFrom('apps.cozystack.io/v1alpha1', 'v1', 'other.io/v1');
const tenant: fc.Arbitrary<KubeObject> = fc.record({
  apiVersion: fc.constant('apps.cozystack.io/v1alpha1'),
  kind: fc.constant('Tenant'),
  metadata: fc.record(
    {
      name: fc.string(),
      namespace: fc.string(),
      labels: fc.dictionary(fc.string(), fc.string()),
      managedFields: fc.array(fc.record({ manager: fc.string(), apiVersion: anyApiVersion, fieldsV1: fc.dictionary(fc.string(), fc.jsonValue()) })),
    },
    { requiredKeys: ['name', 'namespace'] },
  ),
  spec: fc.jsonValue(),
  status: fc.jsonValue(),
}).map((object) => JSON.parse(JSON.stringify(object)) as KubeObject);

describe('record codec', () => {
  it('reads back what it wrote', () => fc.assert(fc.property(tenant, (object) => assert.deepEqual(codec.toVirtual(codec.toRecord(object)), object))));

  it('translates the version of managed fields, and only ours', () => {
    const managedFields = [
      { manager: 'a', operation: 'Apply' as const, apiVersion: 'apps.cozystack.io/v1alpha1' },
      { manager: 'b', operation: 'Update' as const, apiVersion: 'other.io/v1' },
    ];
    const record = codec.toRecord({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { name: 'x', managedFields } });
    assert.equal(record.apiVersion, 'records.cozystack.io/v1alpha1');
    assert.equal(record.kind, 'TenantRecord');
    assert.deepEqual(record.metadata.managedFields?.map(({ apiVersion }) => apiVersion), ['records.cozystack.io/v1alpha1', 'other.io/v1']);
  });

  for (const { name, status, expected } of [
    {
      name: 'a missing record is a missing tenant',
      status: { message: 'tenantrecords.records.cozystack.io "x" not found', details: { name: 'x', group: 'records.cozystack.io', kind: 'tenantrecords' } },
      expected: { message: 'tenants.apps.cozystack.io "x" not found', details: { name: 'x', group: 'apps.cozystack.io', kind: 'tenants' } },
    },
    {
      name: 'an invalid record is an invalid tenant',
      status: {
        message: 'TenantRecord.records.cozystack.io "x" is invalid: spec.host: Too long',
        details: { name: 'x', group: 'records.cozystack.io', kind: 'TenantRecord', causes: [{ field: 'spec.host', message: 'Too long' }] },
      },
      expected: {
        message: 'Tenant.apps.cozystack.io "x" is invalid: spec.host: Too long',
        details: { name: 'x', group: 'apps.cozystack.io', kind: 'Tenant', causes: [{ field: 'spec.host', message: 'Too long' }] },
      },
    },
    {
      name: "another resource's refusal stays as it is",
      status: { message: 'namespaces "n" not found', details: { name: 'n', kind: 'namespaces' } },
      expected: { message: 'namespaces "n" not found', details: { name: 'n', kind: 'namespaces' } },
    },
  ]) {
    it(name, () => {
      const whole = (part: object): Status => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 422, ...part });
      assert.deepEqual(codec.toVirtualStatus(whole(status)), whole(expected));
    });
  }

  it('keeps the code of an error, and the error itself for the log', () => {
    const original = StatusError.notFound({ group: 'records.cozystack.io', resource: 'tenantrecords' }, 'x');
    const translated = codec.toVirtualError(original);
    assert.ok(translated instanceof StatusError);
    assert.equal(translated.code, 404);
    assert.equal(translated.cause, original);
  });
});
