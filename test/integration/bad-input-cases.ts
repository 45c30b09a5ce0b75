import type { RawRequest } from './twin.ts';

export const apiVersion = 'apps.cozystack.io/v1alpha1';
export const gatewayVersion = 'gateway.cozystack.io/v1alpha1';
const json = 'application/json';
const yaml = 'application/yaml';
export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const applyPatch = 'application/apply-patch+yaml';

/** `all` and `gateways` are collections, `live` and `gateway` objects that exist. */
export type Place = 'all' | 'gateways' | 'live' | 'gateway' | 'missing';

export interface Case extends Omit<RawRequest, 'path'> {
  name: string;
  at: Place;
  /** After the place's path: a subresource or a query. */
  rest?: string;
  /** Of the request, in short. */
  type?: string;
  accept?: string;
  code: number;
  reason?: string;
  /** Why the twin's answer is another one, where that is meant; its status code then, if that is another. */
  differs?: string;
  twinCode?: number;
}

/** What is left to do elsewhere, or was decided. */
const because = {
  namespace: 'the patch carries the namespace of its path, which the message names',
  yaml: 'the YAML parser explains faults in its own words',
  goNames: 'the message names a line of Kubernetes\' source',
  clientsFault: 'what the client got wrong is no internal error',
  path: 'a built-in resource refuses what a custom one overlooks',
  twice: 'the twin says the same twice',
};

export const tenant = (part: object = {}, metadata: object = {}): object => ({ apiVersion, kind: 'Tenant', metadata: { name: 'fresh', ...metadata }, ...part });
export const gateway = (spec: unknown, metadata: object = {}): object => ({ apiVersion: gatewayVersion, kind: 'TenantGateway', metadata: { name: 'fresh', ...metadata }, spec });
const changed = (part: object = {}, metadata: object = {}): object => tenant(part, { name: 'live', ...metadata });
const manifest = (part = ''): string => `apiVersion: ${apiVersion}\nkind: Tenant\nmetadata:\n  name: fresh\n${part}`;
const large = JSON.stringify(tenant({ spec: { schedulingClass: 'x'.repeat(3 * 1024 * 1024) } }));
const deep = (depth: number): string => `{"apiVersion":"${apiVersion}","kind":"Tenant","metadata":{"name":"fresh"},"spec":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;

export const bodies: Case[] = [
  { name: 'broken JSON', at: 'all', method: 'POST', body: '{"apiVersion":', code: 400, reason: 'BadRequest' },
  { name: 'text after the JSON', at: 'all', method: 'POST', body: `${JSON.stringify(tenant())}x`, code: 400, reason: 'BadRequest' },
  { name: 'broken YAML', at: 'all', method: 'POST', type: yaml, body: 'a: [1', code: 400, reason: 'BadRequest', differs: because.yaml },
  { name: 'a YAML tab', at: 'all', method: 'POST', type: yaml, body: manifest('spec:\n\tetcd: true\n'), code: 400, reason: 'BadRequest', differs: because.yaml },
  { name: 'no body', at: 'all', method: 'POST', body: '', code: 400, reason: 'BadRequest' },
  { name: 'a list for an object', at: 'all', method: 'POST', body: '[]', code: 400, reason: 'BadRequest' },
  { name: 'null for an object', at: 'all', method: 'POST', body: 'null', code: 400, reason: 'BadRequest' },
  { name: 'bytes that are no UTF-8', at: 'all', method: 'POST', body: Buffer.from([0xff, 0xfe, 0x00]), code: 400, reason: 'BadRequest' },
  { name: 'an object without kind', at: 'all', method: 'POST', body: { apiVersion, metadata: { name: 'fresh' } }, code: 400, reason: 'BadRequest' },
  { name: 'an object without apiVersion', at: 'all', method: 'POST', body: { kind: 'Tenant', metadata: { name: 'fresh' } }, code: 400, reason: 'BadRequest' },
  { name: 'another kind', at: 'all', method: 'POST', body: { apiVersion, kind: 'Other', metadata: { name: 'fresh' } }, code: 422 },
  { name: 'another version', at: 'all', method: 'POST', body: { apiVersion: 'apps.cozystack.io/v9', kind: 'Tenant', metadata: { name: 'fresh' } }, code: 400 },
  { name: 'another group', at: 'all', method: 'POST', body: { apiVersion: 'v1', kind: 'Tenant', metadata: { name: 'fresh' } }, code: 400 },
  { name: 'neither name nor generateName', at: 'all', method: 'POST', body: { apiVersion, kind: 'Tenant', metadata: {} }, code: 422, reason: 'Invalid' },
  { name: 'a text for metadata', at: 'all', method: 'POST', body: { apiVersion, kind: 'Tenant', metadata: 'x' }, code: 400, reason: 'BadRequest' },
  { name: 'numbers for labels', at: 'all', method: 'POST', body: tenant({}, { labels: { a: 1 } }), code: 400, reason: 'BadRequest' },
  { name: 'a label that is none', at: 'all', method: 'POST', body: tenant({}, { labels: { 'a b': '?' } }), code: 422, reason: 'Invalid' },
  { name: 'an owner without uid', at: 'all', method: 'POST', body: tenant({}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }] }), code: 422, reason: 'Invalid' },
  { name: 'a bare finalizer', at: 'all', method: 'POST', rest: '?dryRun=All', body: tenant({}, { finalizers: ['bare'] }), code: 201 },
  { name: 'a resourceVersion at create', at: 'all', method: 'POST', body: tenant({}, { resourceVersion: '7' }), code: 500 },
  { name: 'nesting without end', at: 'all', method: 'POST', body: deep(12_000), code: 400, reason: 'BadRequest' },
  { name: 'a body over 3 MiB at create', at: 'all', method: 'POST', body: large, code: 413, reason: 'RequestEntityTooLarge' },
  { name: 'a body over 3 MiB at update', at: 'live', method: 'PUT', body: large, code: 413, reason: 'RequestEntityTooLarge' },
  { name: 'a body over 3 MiB at patch', at: 'live', method: 'PATCH', type: mergePatch, body: large, code: 413, reason: 'RequestEntityTooLarge' },
  { name: 'an unknown media type at create', at: 'all', method: 'POST', type: 'text/plain', body: 'hello', code: 415, reason: 'UnsupportedMediaType' },
  { name: 'an unknown media type at update', at: 'live', method: 'PUT', type: 'application/xml', body: '<a/>', code: 415, reason: 'UnsupportedMediaType' },
  { name: 'a strategic merge patch', at: 'live', method: 'PATCH', type: 'application/strategic-merge-patch+json', body: '{}', code: 415, reason: 'UnsupportedMediaType' },
  { name: 'a patch of plain JSON', at: 'live', method: 'PATCH', type: json, body: '{}', code: 415, reason: 'UnsupportedMediaType' },
  { name: 'an unacceptable Accept of an object', at: 'live', accept: 'text/html', code: 406, reason: 'NotAcceptable' },
  { name: 'an unacceptable Accept of a list', at: 'all', accept: 'application/cbor-of-old', code: 406, reason: 'NotAcceptable' },
  { name: 'an unacceptable Accept of a create', at: 'all', method: 'POST', body: tenant(), accept: 'image/png', code: 406, reason: 'NotAcceptable' },
  { name: 'an unknown conversion', at: 'live', accept: 'application/json;as=Nothing;g=meta.k8s.io;v=v1', code: 406, reason: 'NotAcceptable' },
  { name: 'a watch as YAML', at: 'all', rest: '?watch=1', accept: yaml, code: 406, reason: 'NotAcceptable' },
];

const unknownField = tenant({ spec: { etcd: false, nope: 1 } });
const duplicate = `{"apiVersion":"${apiVersion}","kind":"Tenant","metadata":{"name":"fresh"},"spec":{"etcd":true,"etcd":false}}`;
export const validations: Case[] = [
  { name: 'an unknown field, Strict', at: 'all', method: 'POST', rest: '?fieldValidation=Strict', body: unknownField, code: 400, reason: 'BadRequest' },
  { name: 'an unknown field, Warn', at: 'all', method: 'POST', rest: '?fieldValidation=Warn&dryRun=All', body: unknownField, code: 201 },
  { name: 'an unknown field, Ignore', at: 'all', method: 'POST', rest: '?fieldValidation=Ignore&dryRun=All', body: unknownField, code: 201 },
  { name: 'an unknown field, unsaid', at: 'all', method: 'POST', rest: '?dryRun=All', body: unknownField, code: 201 },
  { name: 'an unknown field in metadata, Strict', at: 'all', method: 'POST', rest: '?fieldValidation=Strict', body: tenant({}, { nope: 1 }), code: 400, reason: 'BadRequest' },
  { name: 'an unknown field at the root, Warn', at: 'all', method: 'POST', rest: '?fieldValidation=Warn&dryRun=All', body: tenant({ nope: 1 }), code: 201 },
  { name: 'a field twice, Strict', at: 'all', method: 'POST', rest: '?fieldValidation=Strict', body: duplicate, code: 400, reason: 'BadRequest' },
  { name: 'a field twice, Warn', at: 'all', method: 'POST', rest: '?fieldValidation=Warn&dryRun=All', body: duplicate, code: 201 },
  { name: 'a field twice in YAML, Strict', at: 'all', method: 'POST', type: yaml, rest: '?fieldValidation=Strict', body: manifest('spec:\n  etcd: true\n  etcd: false\n'), code: 400, reason: 'BadRequest' },
  { name: 'a field twice in YAML, Warn', at: 'all', method: 'POST', type: yaml, rest: '?fieldValidation=Warn&dryRun=All', body: manifest('spec:\n  etcd: true\n  etcd: false\n'), code: 201 },
  { name: 'an unknown field in an update, Strict', at: 'live', method: 'PUT', rest: '?fieldValidation=Strict', body: changed({ spec: { nope: 1 } }), code: 400, reason: 'BadRequest' },
  { name: 'an unknown field in a merge patch, Strict', at: 'live', method: 'PATCH', type: mergePatch, rest: '?fieldValidation=Strict', body: { spec: { nope: 1 } }, code: 422, reason: 'Invalid' },
  { name: 'an unknown field in a merge patch, Warn', at: 'live', method: 'PATCH', type: mergePatch, rest: '?fieldValidation=Warn&dryRun=All', body: { spec: { nope: 1 } }, code: 200 },
  { name: 'an unknown field in a JSON patch, Strict', at: 'live', method: 'PATCH', type: jsonPatch, rest: '?fieldValidation=Strict', body: [{ op: 'add', path: '/spec/nope', value: 1 }], code: 422, reason: 'Invalid' },
  { name: 'an unknown field in an apply, Strict', at: 'live', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test&force=true&fieldValidation=Strict', body: changed({ spec: { nope: 1 } }), code: 500, differs: because.namespace },
  { name: 'a field twice in an apply, Strict', at: 'missing', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test&fieldValidation=Strict', body: duplicate.replace('fresh', 'missing'), code: 400, reason: 'BadRequest' },
  { name: 'an unknown fieldValidation', at: 'all', method: 'POST', rest: '?fieldValidation=Maybe', body: tenant(), code: 422, reason: 'Invalid' },
  { name: 'a wrong type', at: 'all', method: 'POST', body: tenant({ spec: { etcd: 'yes' } }), code: 422, reason: 'Invalid' },
  { name: 'several wrong types', at: 'all', method: 'POST', body: tenant({ spec: { etcd: 1, schedulingClass: {}, resourceQuotas: [] } }), code: 422, reason: 'Invalid' },
  { name: 'a list for spec', at: 'all', method: 'POST', body: tenant({ spec: [] }), code: 422, reason: 'Invalid' },
  { name: 'a quantity that is none', at: 'all', method: 'POST', body: tenant({ spec: { resourceQuotas: { cpu: 'much' } } }), code: 422, reason: 'Invalid' },
  { name: 'a wrong type in an update', at: 'live', method: 'PUT', body: changed({ spec: { etcd: 'yes' } }), code: 422, reason: 'Invalid' },
  { name: 'a wrong type in a merge patch', at: 'live', method: 'PATCH', type: mergePatch, body: { spec: { etcd: 'yes' } }, code: 422, reason: 'Invalid' },
  { name: 'a wrong type in a JSON patch', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'replace', path: '/spec/etcd', value: 'yes' }], code: 422, reason: 'Invalid' },
  { name: 'a wrong type in an apply', at: 'live', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test&force=true', body: changed({ spec: { etcd: 'yes' } }), code: 500, differs: because.namespace },
  { name: 'a wrong type in the status', at: 'live', rest: '/status', method: 'PATCH', type: mergePatch, body: { status: { observedGeneration: 'one' } }, code: 422, reason: 'Invalid' },
  { name: 'a missing field', at: 'gateways', method: 'POST', body: gateway({}), code: 422, reason: 'Invalid' },
  { name: 'a missing spec', at: 'gateways', method: 'POST', body: gateway(undefined), code: 422, reason: 'Invalid' },
  { name: 'null for a field that is required', at: 'gateways', method: 'POST', body: gateway({ apex: null }), code: 422, reason: 'Invalid' },
  { name: 'a value outside an enumeration', at: 'gateways', method: 'POST', body: gateway({ apex: 'example.org', certMode: 'magic' }), code: 422, reason: 'Invalid' },
  { name: 'a value outside an enumeration, patched in', at: 'gateway', method: 'PATCH', type: mergePatch, body: { spec: { certMode: 'magic' } }, code: 422, reason: 'Invalid' },
  { name: 'a name that is no DNS name', at: 'gateways', method: 'POST', body: gateway({ apex: 'example.org' }, { name: 'A_b' }), code: 422, reason: 'Invalid' },
];

export const requests: Case[] = [
  { name: 'a name that is taken', at: 'all', method: 'POST', body: changed(), code: 409, reason: 'AlreadyExists' },
  { name: 'a name that is taken, dry run', at: 'all', method: 'POST', rest: '?dryRun=All', body: changed(), code: 409, reason: 'AlreadyExists' },
  { name: 'a stale version in an update', at: 'live', method: 'PUT', body: changed({}, { resourceVersion: '1' }), code: 409, reason: 'Conflict' },
  { name: 'a stale version in a merge patch', at: 'live', method: 'PATCH', type: mergePatch, body: { metadata: { resourceVersion: '1' } }, code: 409, reason: 'Conflict' },
  { name: 'a stale version in an apply', at: 'live', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test', body: changed({}, { resourceVersion: '1' }), code: 409, reason: 'Conflict' },
  { name: 'a version that is none', at: 'live', method: 'PUT', body: changed({}, { resourceVersion: 'x' }), code: 500 },
  { name: 'an update without version', at: 'live', method: 'PUT', body: changed(), code: 422, reason: 'Invalid' },
  { name: 'another uid in an update', at: 'live', method: 'PUT', body: changed({}, { uid: 'other' }), code: 409, reason: 'Conflict' },
  { name: 'another uid as the precondition of a delete', at: 'live', method: 'DELETE', body: { preconditions: { uid: 'other' } }, code: 409, reason: 'Conflict' },
  { name: 'a stale version as the precondition of a delete', at: 'live', method: 'DELETE', body: { preconditions: { resourceVersion: '1' } }, code: 409, reason: 'Conflict' },
  { name: 'get of what is not there', at: 'missing', code: 404, reason: 'NotFound' },
  { name: 'update of what is not there', at: 'missing', method: 'PUT', body: tenant({}, { name: 'missing' }), code: 404, reason: 'NotFound' },
  { name: 'update with a version of what is not there', at: 'missing', method: 'PUT', body: tenant({}, { name: 'missing', resourceVersion: '1' }), code: 404 },
  { name: 'patch of what is not there', at: 'missing', method: 'PATCH', type: mergePatch, body: {}, code: 404, reason: 'NotFound' },
  { name: 'delete of what is not there', at: 'missing', method: 'DELETE', code: 404, reason: 'NotFound' },
  { name: 'status of what is not there', at: 'missing', rest: '/status', code: 404, reason: 'NotFound' },
  { name: 'apply to the status of what is not there', at: 'missing', rest: '/status?fieldManager=test', method: 'PATCH', type: applyPatch, body: tenant({ status: {} }, { name: 'missing' }), code: 404, reason: 'NotFound' },
  { name: "another name than the path's", at: 'live', method: 'PUT', body: tenant({}, { name: 'other' }), code: 400, reason: 'BadRequest' },
  { name: "another name than the path's in a patch", at: 'live', method: 'PATCH', type: mergePatch, body: { metadata: { name: 'other' } }, code: 400 },
  { name: "another name than the path's in an apply", at: 'live', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test', body: tenant({}, { name: 'other' }), code: 400 },
  { name: "another namespace than the path's", at: 'all', method: 'POST', body: tenant({}, { namespace: 'default' }), code: 400, reason: 'BadRequest' },
  { name: "another namespace than the path's in an update", at: 'live', method: 'PUT', body: changed({}, { namespace: 'default' }), code: 400, reason: 'BadRequest' },
  { name: 'no name in an update', at: 'live', method: 'PUT', body: { apiVersion, kind: 'Tenant', metadata: {} }, code: 400 },
  { name: 'a label selector that is none', at: 'all', rest: '?labelSelector=a==b,((', code: 400, reason: 'BadRequest' },
  { name: 'a field selector that is none', at: 'all', rest: '?fieldSelector=x', code: 400, reason: 'BadRequest' },
  { name: 'a field that cannot be selected by', at: 'all', rest: '?fieldSelector=spec.host%3Dx', code: 400, reason: 'BadRequest' },
  { name: 'a selector that is none in a watch', at: 'all', rest: '?watch=1&labelSelector=((', code: 400, reason: 'BadRequest' },
  { name: 'a selector that is none in a deletecollection', at: 'all', method: 'DELETE', rest: '?labelSelector=((', code: 400, reason: 'BadRequest' },
  { name: 'a limit that is none', at: 'all', rest: '?limit=many', code: 400 },
  { name: 'a continue token that is none', at: 'all', rest: '?continue=xyz', code: 400 },
  { name: 'a version to watch from that is none', at: 'all', rest: '?watch=1&resourceVersion=x', code: 400, reason: 'BadRequest', differs: because.clientsFault, twinCode: 500 },
  { name: 'a version to get at that is none', at: 'live', rest: '?resourceVersion=x', code: 400, reason: 'BadRequest', differs: because.clientsFault, twinCode: 500 },
  { name: 'sendInitialEvents without version match', at: 'all', rest: '?watch=1&sendInitialEvents=1', code: 422, reason: 'Invalid' },
  { name: 'a version to list at that is none', at: 'all', rest: '?resourceVersion=x', code: 400 },
  { name: 'a version match without version', at: 'all', rest: '?resourceVersionMatch=Exact', code: 422, reason: 'Invalid' },
  { name: 'an unknown version match', at: 'all', rest: '?resourceVersion=1&resourceVersionMatch=Near', code: 422, reason: 'Invalid' },
  { name: 'an unknown dryRun at create', at: 'all', method: 'POST', rest: '?dryRun=Some', body: tenant(), code: 422, reason: 'Invalid' },
  { name: 'an unknown dryRun at delete', at: 'live', method: 'DELETE', rest: '?dryRun=Some', code: 422, reason: 'Invalid' },
  { name: 'an unknown propagation policy', at: 'live', method: 'DELETE', body: { propagationPolicy: 'Sideways' }, code: 422, reason: 'Invalid' },
  { name: 'both propagation policy and orphanDependents', at: 'live', method: 'DELETE', body: { propagationPolicy: 'Orphan', orphanDependents: true }, code: 422, reason: 'Invalid' },
  { name: 'delete options that are none', at: 'live', method: 'DELETE', body: 'x', code: 400, reason: 'BadRequest' },
  { name: 'a text for a list in delete options', at: 'live', method: 'DELETE', body: { dryRun: 'All' }, code: 400, reason: 'BadRequest' },
  { name: 'a text for a number in delete options', at: 'live', method: 'DELETE', body: { gracePeriodSeconds: 'x' }, code: 400, reason: 'BadRequest' },
  { name: 'delete options of another kind', at: 'live', method: 'DELETE', body: tenant(), code: 400, reason: 'BadRequest', differs: because.goNames },
  { name: 'a field manager of unprintable characters', at: 'all', method: 'POST', rest: '?fieldManager=a%01b', body: tenant(), code: 422, reason: 'Invalid' },
  { name: 'a field manager without end', at: 'all', method: 'POST', rest: `?fieldManager=${'x'.repeat(129)}`, body: tenant(), code: 422, reason: 'Invalid' },
  { name: 'an apply without field manager', at: 'live', method: 'PATCH', type: applyPatch, body: changed(), code: 422, reason: 'Invalid' },
  { name: 'force without apply', at: 'live', method: 'PATCH', type: mergePatch, rest: '?force=true', body: {}, code: 422, reason: 'Invalid' },
  { name: 'managed fields in an apply', at: 'live', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test', body: changed({}, { managedFields: [{}] }), code: 400 },
  { name: 'a list as a merge patch', at: 'live', method: 'PATCH', type: mergePatch, body: '[]', code: 400, reason: 'BadRequest' },
  { name: 'null as a merge patch', at: 'live', method: 'PATCH', type: mergePatch, body: 'null', code: 400 },
  { name: 'broken JSON as a merge patch', at: 'live', method: 'PATCH', type: mergePatch, body: '{', code: 400, reason: 'BadRequest' },
  { name: 'an object as a JSON patch', at: 'live', method: 'PATCH', type: jsonPatch, body: '{}', code: 400, reason: 'BadRequest' },
  { name: 'a JSON patch of texts', at: 'live', method: 'PATCH', type: jsonPatch, body: '["a"]', code: 400 },
  { name: 'an unknown operation', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'zap', path: '/a' }], code: 422, reason: 'Invalid' },
  { name: 'an operation on nothing', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'remove', path: '/spec/nope' }], code: 422, reason: 'Invalid' },
  { name: 'a test that fails', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'test', path: '/metadata/name', value: 'x' }], code: 422, reason: 'Invalid' },
  { name: 'a patch that changes the kind', at: 'live', method: 'PATCH', type: mergePatch, body: { kind: 'Other' }, code: 422, reason: 'Invalid' },
  { name: 'a patch that changes the version', at: 'live', method: 'PATCH', type: mergePatch, rest: '?fieldValidation=Ignore', body: { apiVersion: 'apps.cozystack.io/v9' }, code: 422 },
  { name: 'a patch that removes the kind', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'remove', path: '/kind' }], code: 422, reason: 'Invalid' },
  { name: 'a patch that changes the uid', at: 'live', method: 'PATCH', type: mergePatch, body: { metadata: { uid: 'x' } }, code: 422, reason: 'Invalid', differs: because.twice },
  { name: 'an operation whose path is a number', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'remove', path: 7 }], code: 400, reason: 'BadRequest' },
  { name: 'a patch that replaces the object by a text', at: 'live', method: 'PATCH', type: jsonPatch, body: [{ op: 'replace', path: '', value: 'x' }], code: 422 },
  { name: 'a create at a name', at: 'live', method: 'POST', rest: '?dryRun=All', body: tenant(), code: 405, reason: 'MethodNotAllowed', differs: because.path, twinCode: 201 },
  { name: 'an update of all', at: 'all', method: 'PUT', body: tenant(), code: 400, reason: 'BadRequest' },
  { name: 'a patch of all', at: 'all', method: 'PATCH', type: mergePatch, body: {}, code: 400, reason: 'BadRequest' },
  { name: 'a method that HTTP does not know', at: 'live', method: 'PROPFIND', code: 405 },
  { name: 'an unknown subresource', at: 'live', rest: '/scale', code: 404, reason: 'NotFound' },
  { name: 'a path below the status', at: 'live', rest: '/status/more', code: 404, reason: 'NotFound', differs: because.path, twinCode: 200 },
  { name: 'a delete of the status', at: 'live', rest: '/status', method: 'DELETE', code: 405, reason: 'MethodNotAllowed' },
  { name: 'no permission', at: 'all', headers: { 'impersonate-user': 'nobody' }, code: 403, reason: 'Forbidden' },
  { name: 'no permission to create', at: 'all', method: 'POST', body: tenant(), headers: { 'impersonate-user': 'nobody' }, code: 403, reason: 'Forbidden' },
  { name: 'no permission, and nothing there', at: 'missing', headers: { 'impersonate-user': 'nobody' }, code: 403, reason: 'Forbidden' },
  { name: 'no permission to apply', at: 'missing', method: 'PATCH', type: applyPatch, rest: '?fieldManager=test', body: tenant({}, { name: 'missing' }), headers: { 'impersonate-user': 'nobody' }, code: 403, reason: 'Forbidden' },
  { name: 'no credentials', at: 'all', credentials: { anonymous: true }, code: 403, reason: 'Forbidden' },
  { name: 'a bad token', at: 'all', credentials: { token: 'nonsense' }, code: 401, reason: 'Unauthorized' },
];
