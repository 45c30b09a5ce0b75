import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StatusError } from '../kube/status-error.ts';
import { queryOf, requestInfoOf, type RequestInfo } from './request-info.ts';

const base = '/apis/apps.cozystack.io/v1alpha1';
const resource = (found: Partial<RequestInfo>): Partial<RequestInfo> => ({
  isResourceRequest: true,
  apiPrefix: 'apis',
  apiGroup: 'apps.cozystack.io',
  apiVersion: 'v1alpha1',
  resource: 'tenants',
  namespace: '',
  name: '',
  subresource: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  ...found,
});

const table: { request: string; found: Partial<RequestInfo> }[] = [
  { request: `GET ${base}/tenants`, found: resource({ verb: 'list', parts: ['tenants'] }) },
  { request: `HEAD ${base}/tenants`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/tenants/`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/namespaces/n/tenants`, found: resource({ verb: 'list', namespace: 'n' }) },
  { request: `GET ${base}/namespaces/n/tenants/x`, found: resource({ verb: 'get', namespace: 'n', name: 'x', parts: ['tenants', 'x'] }) },
  { request: `GET ${base}/namespaces/n/tenants/x?watch=true`, found: resource({ verb: 'get', namespace: 'n', name: 'x' }) },
  { request: `POST ${base}/namespaces/n/tenants`, found: resource({ verb: 'create', namespace: 'n' }) },
  { request: `PUT ${base}/namespaces/n/tenants/x/status`, found: resource({ verb: 'update', namespace: 'n', name: 'x', subresource: 'status' }) },
  { request: `PATCH ${base}/namespaces/n/tenants/x`, found: resource({ verb: 'patch', namespace: 'n', name: 'x' }) },
  { request: `DELETE ${base}/namespaces/n/tenants/x`, found: resource({ verb: 'delete', namespace: 'n', name: 'x' }) },
  { request: `DELETE ${base}/namespaces/n/tenants?labelSelector=a%3Db`, found: resource({ verb: 'deletecollection', namespace: 'n', labelSelector: 'a=b' }) },
  { request: `DELETE ${base}/namespaces/n/tenants?fieldSelector=metadata.name%3Dx`, found: resource({ verb: 'deletecollection', namespace: 'n', fieldSelector: 'metadata.name=x' }) },
  { request: `OPTIONS ${base}/namespaces/n/tenants/x`, found: resource({ verb: '', namespace: 'n', name: 'x' }) },
  { request: `get ${base}/tenants`, found: resource({ verb: '' }) },
  // watch
  { request: `GET ${base}/tenants?watch`, found: resource({ verb: 'watch' }) },
  { request: `GET ${base}/tenants?watch=1`, found: resource({ verb: 'watch' }) },
  { request: `GET ${base}/tenants?watch=False`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/tenants?watch=0&watch=1`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/tenants?%77atch=true`, found: resource({ verb: 'watch' }) },
  { request: `GET ${base}/tenants?watch=true&limit=x&fieldSelector=metadata.name%3Dx`, found: resource({ verb: 'watch', name: '', fieldSelector: 'metadata.name=x' }) },
  { request: `GET ${base}/watch/tenants?labelSelector=a`, found: resource({ verb: 'watch' }) },
  { request: `GET ${base}/watch/namespaces/n/tenants/x`, found: resource({ verb: 'watch', namespace: 'n', name: 'x' }) },
  { request: `GET ${base}/proxy/namespaces/n/tenants/x/y`, found: resource({ verb: 'proxy', namespace: 'n', name: 'x' }) },
  // a name in the field selector
  { request: `GET ${base}/tenants?fieldSelector=metadata.name%3Dx`, found: resource({ verb: 'list', name: 'x', fieldSelector: 'metadata.name=x' }) },
  { request: `GET ${base}/tenants?watch=1&fieldSelector=metadata.name==x,spec.host=h`, found: resource({ verb: 'watch', name: 'x' , fieldSelector: 'metadata.name==x,spec.host=h' }) },
  { request: `GET ${base}/tenants?fieldSelector=metadata.name!%3Dx`, found: resource({ verb: 'list', name: '', fieldSelector: 'metadata.name!=x' }) },
  { request: `GET ${base}/tenants?fieldSelector=metadata.name%3D..`, found: resource({ verb: 'list', name: '', fieldSelector: 'metadata.name=..' }) },
  { request: `GET ${base}/tenants?fieldSelector=metadata.name%3Da%2Fb`, found: resource({ verb: 'list', name: '', fieldSelector: 'metadata.name=a/b' }) },
  { request: `GET ${base}/tenants?fieldSelector=metadata.name%3Dx&labelSelector=%28`, found: resource({ verb: 'list', name: '', fieldSelector: 'metadata.name=x', labelSelector: '(' }) },
  { request: `GET ${base}/tenants?fieldSelector=a;b`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/tenants?fieldSelector=%zz`, found: resource({ verb: 'list' }) },
  { request: `GET ${base}/tenants?labelSelector=a+in+(b)`, found: resource({ verb: 'list', labelSelector: 'a in (b)' }) },
  // namespaces themselves
  { request: 'GET /api/v1/namespaces', found: resource({ verb: 'list', apiPrefix: 'api', apiGroup: '', apiVersion: 'v1', resource: 'namespaces' }) },
  { request: 'GET /api/v1/namespaces/n', found: resource({ verb: 'get', apiPrefix: 'api', apiGroup: '', apiVersion: 'v1', resource: 'namespaces', namespace: 'n', name: 'n' }) },
  { request: 'PUT /api/v1/namespaces/n/finalize', found: resource({ verb: 'update', apiPrefix: 'api', apiGroup: '', apiVersion: 'v1', resource: 'namespaces', namespace: 'n', name: 'n', subresource: 'finalize' }) },
  { request: 'GET /api/v1/nodes/x', found: resource({ verb: 'get', apiPrefix: 'api', apiGroup: '', apiVersion: 'v1', resource: 'nodes', name: 'x' }) },
  // no resources
  { request: 'GET /', found: { isResourceRequest: false, verb: 'get', path: '/', resource: '' } },
  { request: 'GET /apis', found: { isResourceRequest: false, verb: 'get', path: '/apis' } },
  { request: `GET ${base}`, found: { isResourceRequest: false, verb: 'get', path: base } },
  { request: `GET ${base}/`, found: { isResourceRequest: false } },
  { request: 'POST /healthz?verbose', found: { isResourceRequest: false, verb: 'post', path: '/healthz' } },
  { request: 'GET /metrics/a/b/c/d', found: { isResourceRequest: false, verb: 'get' } },
  { request: 'OPTIONS *', found: { isResourceRequest: false, verb: 'options', path: '*' } },
  // odd paths: read as they are, never put in order
  { request: `GET /${base}/namespaces/n/tenants/x`, found: resource({ verb: 'get', namespace: 'n', name: 'x', path: `/${base}/namespaces/n/tenants/x` }) },
  { request: `GET ${base}/namespaces//tenants`, found: resource({ verb: 'list', namespace: '' }) },
  { request: `GET ${base}/namespaces/n/tenants/..`, found: resource({ verb: 'get', namespace: 'n', name: '..' }) },
  { request: `GET ${base}/namespaces/n/tenants/%2e%2e/y`, found: resource({ verb: 'get', namespace: 'n', name: '..', subresource: 'y' }) },
  { request: `GET ${base}/namespaces/n/tenants/a%2Fstatus`, found: resource({ verb: 'get', namespace: 'n', name: 'a', subresource: 'status' }) },
  { request: `GET ${base}/namespaces/n/tenants/a;b`, found: resource({ verb: 'get', namespace: 'n', name: 'a;b' }) },
  { request: `GET ${base}/namespaces/n/tenants/zo%C3%AB`, found: resource({ verb: 'get', namespace: 'n', name: 'zoë' }) },
  { request: `GET ${base}/namespaces/n/tenants/%ff`, found: resource({ verb: 'get', namespace: 'n', name: '\ufffd' }) },
  { request: `GET https://elsewhere${base}/namespaces/n/tenants/x`, found: resource({ verb: 'get', namespace: 'n', name: 'x', path: `${base}/namespaces/n/tenants/x` }) },
];

describe('requestInfoOf', () => {
  for (const { request, found } of table) {
    it(request, () => {
      const [method = '', url = ''] = request.split(' ');
      const info = { fieldSelector: undefined, labelSelector: undefined, ...requestInfoOf(method, url) };
      assert.deepEqual({ ...info, ...found }, info);
    });
  }

  it('answers 400 to a path that cannot be decoded', () => {
    for (const path of ['/%', '/%zz', '/a%2', `${base}/tenants/%g0`]) {
      assert.throws(() => requestInfoOf('GET', path), (error) => error instanceof StatusError && error.code === 400);
    }
  });

  it('answers 500 to a watch of nothing, as the kube-apiserver does', () =>
    assert.throws(() => requestInfoOf('GET', `${base}/watch`), (error) => error instanceof StatusError && error.code === 500));

  const fragment = fc.oneof(
    fc.constantFrom('/', '//', '..', '%2f', '%', '%zz', '?', '&', 'watch', '=', 'apis', 'api', 'namespaces', 'metadata.name', 'fieldSelector', ';', '\\', '#', '%C3'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  it('throws nothing but a StatusError', () =>
    fc.assert(fc.property(fc.string(), fc.array(fragment), (method, fragments) => {
      try {
        assert.equal(typeof requestInfoOf(method, `/apis/g/v/${fragments.join('')}`).verb, 'string');
      } catch (error) {
        assert.ok(error instanceof StatusError, String(error));
      }
    })));

  const segment = fc.string({ minLength: 1 }).filter((text) => !text.includes('/') && !['watch', 'proxy', 'namespaces', 'status', 'finalize'].includes(text));
  it('finds what was put into the path', () =>
    fc.assert(fc.property(segment, segment, segment, (namespace, plural, name) => {
      const info = requestInfoOf('GET', `${base}/namespaces/${[namespace, plural, name].map(encodeURIComponent).join('/')}`);
      assert.deepEqual([info.namespace, info.resource, info.name], [namespace, plural, name]);
    })));
});

describe('queryOf', () => {
  it('keeps every value in order and drops what cannot be read', () =>
    assert.deepEqual([...queryOf('/x?a=1&b=%zz&a=2&c;d=3&e&f=x%2By+z')], [['a', ['1', '2']], ['e', ['']], ['f', ['x+y z']]]));
});
