import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import { aggregatedContentTypes, apiGroup, apiGroupDiscoveryList, apiGroupList, apiResourceList, discoveryDocuments } from './discovery.ts';
import { customResourceDefinition } from './crd.ts';
import { modelsOf } from './models.ts';
import { openApiV2Documents, schemaV2 } from './openapi-v2.ts';
import { hashOf, openApiV3Documents } from './openapi-v3.ts';
import { servedAsCustomResource } from './served.ts';

const resources = [tenants, tenantGateways].map(servedAsCustomResource);
const parse = ({ bytes }: { bytes: Buffer }): Record<string, unknown> => JSON.parse(bytes.toString()) as Record<string, unknown>;

/** Every object within a document, with its path. */
function* objectsIn(value: unknown, path = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, part] of Object.entries(value)) yield* objectsIn(part, `${path}/${key.replaceAll('/', '~1')}`);
}

const unresolved = (document: unknown): string[] => {
  const present = new Set([...objectsIn(document)].map(([path]) => `#${path}`));
  return [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' && !present.has($ref) ? [$ref] : []));
};

describe('discovery', () => {
  it('lists groups with their preferred version', () => {
    const version = { groupVersion: 'apps.cozystack.io/v1alpha1', version: 'v1alpha1' };
    assert.deepEqual(apiGroupList(resources).groups[0], { name: 'apps.cozystack.io', versions: [version], preferredVersion: version });
    assert.equal(apiGroup(resources, 'apps.cozystack.io')?.kind, 'APIGroup');
    assert.equal(apiGroup(resources, 'other'), undefined);
  });
  it('lists resources as a CustomResourceDefinition does', () => {
    assert.deepEqual(apiResourceList(resources, 'gateway.cozystack.io', 'v1alpha1'), {
      kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'gateway.cozystack.io/v1alpha1',
      resources: [
        {
          name: 'tenantgateways', singularName: 'tenantgateway', namespaced: true, kind: 'TenantGateway',
          verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'], shortNames: ['tgw'], storageVersionHash: 'CIlE9ZNgV6s=',
        },
        { name: 'tenantgateways/status', singularName: '', namespaced: true, kind: 'TenantGateway', verbs: ['get', 'patch', 'update'] },
      ],
    });
    assert.equal(apiResourceList(resources, 'apps.cozystack.io', 'v2'), undefined);
  });
  it('says it all at once to those who ask', () => {
    const { items, apiVersion } = apiGroupDiscoveryList(resources, 'v2');
    assert.equal(apiVersion, 'apidiscovery.k8s.io/v2');
    assert.deepEqual(items.map(({ metadata, versions }) => [metadata.name, versions[0]?.resources[0]?.resource, versions[0]?.freshness]), [
      ['apps.cozystack.io', 'tenants', 'Current'], ['gateway.cozystack.io', 'tenantgateways', 'Current'],
    ]);
    const { aggregated, byPath } = discoveryDocuments(resources);
    assert.equal(aggregated.v2beta1.contentType, aggregatedContentTypes.v2beta1);
    assert.match(aggregated.v2.etag, /^"[0-9A-F]{128}"$/);
    assert.deepEqual([...byPath.keys()], ['/apis', '/apis/apps.cozystack.io', '/apis/apps.cozystack.io/v1alpha1', '/apis/gateway.cozystack.io', '/apis/gateway.cozystack.io/v1alpha1']);
  });
});

describe('OpenAPI v3', () => {
  const { index, byGroupVersion } = openApiV3Documents(resources, 'v1');
  it('has an index of hashed URLs', () => {
    const document = byGroupVersion.get('apis/apps.cozystack.io/v1alpha1');
    assert.ok(document);
    assert.deepEqual((parse(index)['paths'] as Record<string, unknown>)['apis/apps.cozystack.io/v1alpha1'], {
      serverRelativeURL: `/openapi/v3/apis/apps.cozystack.io/v1alpha1?hash=${hashOf(document)}`,
    });
  });
  for (const [path, document] of byGroupVersion) {
    it(`${path} resolves all its references`, () => assert.deepEqual(unresolved(parse(document)), []));
    it(`${path} describes every field`, () => {
      const { schemas } = parse(document)['components'] as { schemas: unknown };
      const bare = [...objectsIn(schemas)].filter(([at, { description }]) => /\/properties\/[^/]+$/.test(at) && !at.endsWith('/properties/properties') && typeof description !== 'string');
      assert.deepEqual(bare.map(([at]) => at), []);
    });
    it(`${path} names each operation once`, () => {
      const ids = [...objectsIn(parse(document)['paths'])].flatMap(([, { operationId }]) => (operationId === undefined ? [] : [operationId]));
      assert.equal(new Set(ids).size, 11);
      assert.equal(ids.length, 11);
    });
  }
  it('leaves out what the verbs do not allow', () => {
    const readOnly = openApiV3Documents([{ definition: tenants, verbs: ['get', 'list', 'watch'] }], 'v1').byGroupVersion.get('apis/apps.cozystack.io/v1alpha1');
    assert.ok(readOnly);
    assert.deepEqual(Object.entries(parse(readOnly)['paths'] as object).map(([path, item]) => [path.split('/').at(-1), Object.keys(item as object)]), [
      ['tenants', ['get', 'parameters']], ['{name}', ['get', 'parameters']], ['tenants', ['get', 'parameters']],
    ]);
  });
  it('publishes selectable fields, and spells integer-or-string out', () => {
    const [model] = Object.values(modelsOf({ ...tenants, selectableFields: ['.spec.host'] }));
    assert.deepEqual(model?.['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.host' }]);
    assert.match(JSON.stringify(model), /"anyOf":\[\{"type":"integer"\},\{"type":"string"\}\]/);
  });
});

describe('OpenAPI v2', () => {
  const { complete, forAggregator } = openApiV2Documents(resources, 'v1');
  it('resolves all its references', () => assert.deepEqual(unresolved(parse(complete)), []));
  it('leaves the types of the kube-apiserver to the kube-apiserver', () => {
    assert.deepEqual(Object.keys(parse(forAggregator)['definitions'] as object), [
      'io.cozystack.apps.v1alpha1.Tenant', 'io.cozystack.apps.v1alpha1.TenantList', 'io.cozystack.gateway.v1alpha1.TenantGateway', 'io.cozystack.gateway.v1alpha1.TenantGatewayList',
    ]);
    assert.ok(unresolved(parse(forAggregator)).every((ref) => ref.startsWith('#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.')));
  });
  it('has no keyword of v3', () => assert.doesNotMatch(complete.bytes.toString(), /"(?:anyOf|oneOf|allOf|nullable|requestBody|content)":/));
  for (const { name, schema, want } of [
    { name: 'what may be null loses its type', schema: { type: 'object' as const, nullable: true, properties: { a: { type: 'string' as const } } }, want: {} },
    { name: 'open objects lose theirs', schema: { type: 'object' as const, properties: {}, 'x-kubernetes-preserve-unknown-fields': true }, want: { 'x-kubernetes-preserve-unknown-fields': true } },
    { name: 'nullable fields are not required', schema: { type: 'object' as const, required: ['a'], properties: { a: { nullable: true } } }, want: { type: 'object', properties: { a: {} } } },
    { name: 'integer-or-string keeps only its mark', schema: { anyOf: [{ type: 'integer' as const }], pattern: 'x', 'x-kubernetes-int-or-string': true }, want: { pattern: 'x', 'x-kubernetes-int-or-string': true } },
  ]) it(name, () => assert.deepEqual(schemaV2(schema), want));
});

describe('customResourceDefinition', () => {
  it('makes a twin in another group', () => {
    const { metadata, spec } = customResourceDefinition({ ...tenantGateways, group: 'twin.test', selectableFields: ['.spec.apex'] });
    assert.equal(metadata.name, 'tenantgateways.twin.test');
    assert.deepEqual(spec.names, { plural: 'tenantgateways', singular: 'tenantgateway', kind: 'TenantGateway', listKind: 'TenantGatewayList', shortNames: ['tgw'] });
    assert.deepEqual(spec.versions[0]?.selectableFields, [{ jsonPath: '.spec.apex' }]);
    assert.deepEqual(spec.versions[0]?.schema.openAPIV3Schema, JSON.parse(JSON.stringify(tenantGateways.schema)));
  });
});
