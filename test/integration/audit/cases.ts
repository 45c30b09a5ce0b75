import type { AuditRequest } from './world.ts';

/** Who asks, where it is not the administrator. */
export type User = 'ada' | 'nobody' | 'imp' | 'conny' | 'stranger';

export interface AuditCase {
  name: string;
  /** `{all}`, `{one}`, `{root}` and `{namespace}` in paths and bodies are filled in. All are sent, one after another; each one's events are compared. */
  steps: readonly (Omit<AuditRequest, 'as'> & { as?: User })[];
  /** Stage of the last event of each step. */
  last?: 'ResponseStarted';
}

const apiVersion = 'gateway.cozystack.io/v1alpha1';
const kind = 'TenantGateway';
const gateway = (metadata: object = {}, rest: object = {}): object => ({ apiVersion, kind, metadata: { name: '{name}', ...metadata }, spec: { apex: 'example.org' }, ...rest });
const create = { method: 'POST', path: '{all}', body: gateway() } as const;
const patch = (type: string, body: unknown, query = ''): AuditCase['steps'][number] => ({ method: 'PATCH', path: `{one}${query}`, body, headers: { 'content-type': type } });
const applied = (apex: string, manager: string, query = ''): AuditCase['steps'][number] =>
  patch('application/apply-patch+yaml', gateway({}, { spec: { apex } }), `?fieldManager=${manager}${query}`);

export const cases: readonly AuditCase[] = [
  { name: 'create', steps: [create] },
  { name: 'create with generateName', steps: [{ ...create, body: gateway({ name: undefined, generateName: 'drawn-' }) }] },
  { name: 'create as a dry run', steps: [{ ...create, path: '{all}?dryRun=All' }] },
  { name: 'create what is there', steps: [create, create] },
  { name: 'create an invalid object', steps: [{ ...create, body: gateway({}, { spec: {} }) }] },
  { name: 'create with unknown fields', steps: [{ ...create, body: gateway({}, { spec: { apex: 'a.b', nothing: 1 } }) }] },
  { name: 'create with unknown fields, strictly', steps: [{ ...create, path: '{all}?fieldValidation=Strict', body: gateway({}, { spec: { apex: 'a.b', nothing: 1 } }) }] },
  { name: 'create of another kind', steps: [{ ...create, body: gateway({}, { kind: 'Other' }) }] },
  { name: 'create of another version', steps: [{ ...create, body: gateway({}, { apiVersion: 'gateway.cozystack.io/v9' }) }] },
  { name: 'create in another namespace than the path', steps: [{ ...create, body: gateway({ namespace: 'default' }) }] },
  { name: 'create with a set uid, version and managed fields', steps: [{ ...create, body: gateway({ uid: 'c8f2d5b2-0000-4000-8000-000000000009', managedFields: [] }) }] },
  { name: 'create of what is no object', steps: [{ ...create, body: [1] }] },
  { name: 'create with bad options', steps: [{ ...create, path: '{all}?dryRun=Some' }] },
  { name: 'create answered as a table', steps: [{ ...create, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }] },
  { name: 'get', steps: [create, { path: '{one}' }] },
  // any version will do for the get, and a cache may not have heard of the object: the list waits until it has
  { name: 'get at a version', steps: [create, { path: '{all}?fieldSelector=metadata.name%3D{name}' }, { path: '{one}?resourceVersion=0' }] },
  { name: 'get as metadata', steps: [create, { path: '{one}', headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } }] },
  { name: 'get of what is not there', steps: [{ path: '{one}' }] },
  { name: 'get of the status', steps: [create, { path: '{one}/status' }] },
  { name: 'get by HEAD', steps: [create, { method: 'HEAD', path: '{one}' }] },
  { name: 'list', steps: [create, { path: '{all}?fieldSelector=metadata.name%3D{name}' }] },
  { name: 'list by label', steps: [{ path: '{all}?labelSelector=a%3D{name}' }] },
  { name: 'list as a table', steps: [create, { path: '{all}?fieldSelector=metadata.name%3D{name}&includeObject=Object', headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }] },
  { name: 'list as metadata', steps: [create, { path: '{all}?fieldSelector=metadata.name%3D{name}', headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } }] },
  { name: 'list with a bad selector', steps: [{ path: '{all}?labelSelector=,,' }] },
  { name: 'list of all namespaces', steps: [{ path: '{root}?labelSelector=a%3D{name}' }] },
  { name: 'watch', steps: [create, { path: '{all}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D{name}' }] },
  { name: 'watch that may not be', steps: [{ path: '{all}?watch=1&timeoutSeconds=1', as: 'nobody' }] },
  { name: 'watch with bad options', steps: [{ path: '{all}?watch=1&timeoutSeconds=1&labelSelector=,,' }] },
  { name: 'update', steps: [create, { method: 'PUT', path: '{one}', body: gateway({ labels: { a: 'b' } }) }] },
  { name: 'update at a stale version', steps: [create, { method: 'PUT', path: '{one}', body: gateway({ resourceVersion: '1', labels: { a: 'b' } }) }] },
  { name: 'update of another name', steps: [create, { method: 'PUT', path: '{one}', body: gateway({ name: 'other' }) }] },
  { name: 'update of what is not there', steps: [{ method: 'PUT', path: '{one}', body: gateway() }] },
  { name: 'update of the status', steps: [create, { method: 'PUT', path: '{one}/status', body: gateway({}, { status: { observedGeneration: 1 } }) }] },
  { name: 'merge patch', steps: [create, patch('application/merge-patch+json', { metadata: { labels: { a: 'b' } } })] },
  { name: 'merge patch that makes it invalid', steps: [create, patch('application/merge-patch+json', { spec: { certMode: 'none' } })] },
  { name: 'merge patch of what is not there', steps: [patch('application/merge-patch+json', { metadata: { labels: { a: 'b' } } })] },
  { name: 'merge patch of the status', steps: [create, { ...patch('application/merge-patch+json', { status: { observedGeneration: 2 } }), path: '{one}/status' }] },
  { name: 'JSON patch', steps: [create, patch('application/json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }])] },
  { name: 'JSON patch that fails its test', steps: [create, patch('application/json-patch+json', [{ op: 'test', path: '/spec/apex', value: 'no' }])] },
  { name: 'JSON patch that is none', steps: [create, patch('application/json-patch+json', { a: 1 })] },
  { name: 'strategic merge patch', steps: [create, patch('application/strategic-merge-patch+json', { metadata: { labels: { a: 'b' } } })] },
  { name: 'patch as a dry run', steps: [create, patch('application/merge-patch+json', { metadata: { labels: { a: 'b' } } }, '?dryRun=All')] },
  { name: 'apply that creates', steps: [applied('a.example.org', 'me')] },
  { name: 'apply that changes', steps: [applied('a.example.org', 'me'), applied('b.example.org', 'me')] },
  { name: 'apply that conflicts, and by force', steps: [applied('a.example.org', 'me'), applied('b.example.org', 'other'), applied('b.example.org', 'other', '&force=true')] },
  { name: 'apply as a dry run', steps: [applied('a.example.org', 'me', '&dryRun=All')] },
  { name: 'apply without a manager', steps: [patch('application/apply-patch+yaml', gateway())] },
  { name: 'delete', steps: [create, { method: 'DELETE', path: '{one}' }] },
  { name: 'delete with options', steps: [create, { method: 'DELETE', path: '{one}', body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' } }] },
  { name: 'delete with options without a type', steps: [create, { method: 'DELETE', path: '{one}', body: { propagationPolicy: 'Background', gracePeriodSeconds: 0 } }] },
  { name: 'delete with options of the group', steps: [create, { method: 'DELETE', path: '{one}', body: { kind: 'DeleteOptions', apiVersion, propagationPolicy: 'Background' } }] },
  { name: 'delete with options in the query', steps: [create, { method: 'DELETE', path: '{one}?propagationPolicy=Background' }] },
  { name: 'delete with a failing precondition', steps: [create, { method: 'DELETE', path: '{one}', body: { preconditions: { uid: 'c8f2d5b2-0000-4000-8000-000000000009' } } }] },
  { name: 'delete as a dry run', steps: [create, { method: 'DELETE', path: '{one}?dryRun=All' }] },
  { name: 'delete with a finalizer', steps: [{ ...create, body: gateway({ finalizers: ['example.org/held'] }) }, { method: 'DELETE', path: '{one}' }] },
  { name: 'delete of what is not there', steps: [{ method: 'DELETE', path: '{one}' }] },
  { name: 'delete with bad options', steps: [create, { method: 'DELETE', path: '{one}', body: { propagationPolicy: 'Sideways' } }] },
  { name: 'deletecollection', steps: [create, { method: 'DELETE', path: '{all}?fieldSelector=metadata.name%3D{name}' }] },
  { name: 'deletecollection with options', steps: [create, { method: 'DELETE', path: '{all}?fieldSelector=metadata.name%3D{name}', body: { propagationPolicy: 'Background' } }] },
  { name: 'a user who may', steps: [{ ...create, as: 'ada' }, { path: '{one}', as: 'ada' }] },
  { name: 'a user who may not', steps: [{ ...create, as: 'nobody' }, { path: '{one}', as: 'nobody' }, { path: '{all}', as: 'nobody' }] },
  { name: 'nobody at all', steps: [{ path: '{one}', headers: { authorization: '' } }] },
  { name: 'a token that is none', steps: [{ path: '{one}', as: 'stranger' }], last: 'ResponseStarted' },
  { name: 'impersonation', steps: [{ ...create, as: 'imp', headers: { 'impersonate-user': 'ada' } }] },
  {
    name: 'impersonation with all there is',
    steps: [{ ...create, as: 'imp', headers: { 'impersonate-user': 'ada', 'impersonate-group': 'builders', 'impersonate-uid': '17', 'impersonate-extra-scope': 'wide' } }],
  },
  { name: 'impersonation of a ServiceAccount that may not', steps: [{ path: '{one}', as: 'imp', headers: { 'impersonate-user': 'system:serviceaccount:default:default' } }] },
  { name: 'impersonation that may not be', steps: [{ path: '{one}', as: 'nobody', headers: { 'impersonate-user': 'ada' } }] },
  { name: 'constrained impersonation', steps: [create, { path: '{one}', as: 'conny', headers: { 'impersonate-user': 'ada' } }] },
  { name: 'impersonation without a user', steps: [{ path: '{one}', as: 'imp', headers: { 'impersonate-group': 'builders' } }] },
  { name: 'a long User-Agent', steps: [{ path: '{one}', headers: { 'user-agent': `é${'x'.repeat(1100)}` } }] },
  { name: 'no User-Agent', steps: [{ path: '{one}' }] },
  { name: 'proxies in between', steps: [{ path: '{one}', headers: { 'x-forwarded-for': '10.0.0.1, bad, 010.0.0.2,2001:DB8:0:0::1, ::ffff:10.0.0.3', 'x-real-ip': '10.0.0.1' } }] },
  { name: 'a real address that is new', steps: [{ path: '{one}', headers: { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '10.0.0.9' } }] },
  { name: 'only the own address', steps: [{ path: '{one}', headers: { 'x-forwarded-for': '127.0.0.1' } }] },
  { name: 'escapes in the path and query', steps: [{ path: '{all}/%7Bname%7D?pretty=0&a=%20b&c=d+e' }] },
  { name: 'a verb that is not served', steps: [{ method: 'PUT', path: '{all}', body: gateway() }] },
  { name: 'a subresource that is not served', steps: [{ path: '{one}/scale' }] },
  { name: 'a type of body that is not read', steps: [{ ...create, headers: { 'content-type': 'text/plain' } }] },
  { name: 'a type of answer that is not written', steps: [{ path: '{one}', headers: { accept: 'text/plain' } }] },
  { name: 'health', steps: [{ path: '/livez' }] },
  { name: 'the version', steps: [{ path: '/version' }] },
  { name: 'a path that leads nowhere', steps: [{ path: '/nothing/here?at=all' }] },
  { name: 'a path that may not be', steps: [{ path: '/nothing/here', as: 'nobody' }] },
];
