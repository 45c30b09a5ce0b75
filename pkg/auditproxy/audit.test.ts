import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { Event } from '../audit/event.ts';
import { eventually } from '../../test/poll.ts';
import { ProxyFixture } from './proxy-fixture.ts';

const tenants = '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants';
const tenant = { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { generateName: 'a' } };
const created = { ...tenant, metadata: { ...tenant.metadata, name: 'a1', uid: 'u1', resourceVersion: '7' } };

describe('ProxyAudit', () => {
  let proxy: ProxyFixture;
  before(async () => {
    proxy = new ProxyFixture();
    proxy.maxBodyBytes = 2000;
    await proxy.start();
  });
  after(() => proxy.stop());
  beforeEach(() => {
    proxy.events.length = 0;
    proxy.answer = (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify(created));
    };
  });

  const recorded = async (headers: Record<string, string>, body: string | Buffer): Promise<Event> => {
    await proxy.ask({ ':path': tenants, ':method': 'POST', 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), 'x-remote-group': 'g', 'audit-id': 'id', ...headers }, { body });
    return eventually('an event', () => proxy.events[0]);
  };

  it('records a change with bodies, and with the name and uid that it was given', async () => {
    const { requestReceivedTimestamp, stageTimestamp, ...event } = await recorded({ 'user-agent': 'kubectl', 'x-forwarded-for': '192.0.2.7' }, JSON.stringify(tenant));
    assert.ok(requestReceivedTimestamp <= stageTimestamp);
    assert.deepEqual(event, {
      kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: 'RequestResponse', auditID: 'id', stage: 'ResponseComplete', requestURI: tenants, verb: 'create',
      user: { username: 'alice', groups: ['g'] }, sourceIPs: ['192.0.2.7', '127.0.0.1'], userAgent: 'kubectl',
      objectRef: { resource: 'tenants', namespace: 'n', apiGroup: 'apps.cozystack.io', apiVersion: 'v1alpha1', name: 'a1', uid: 'u1' },
      responseStatus: { metadata: {}, code: 201 }, requestObject: tenant, responseObject: created,
    });
  });
  it('does not record reads', async () => {
    await proxy.ask({ ':path': tenants });
    await recorded({}, '{}');
    assert.deepEqual(proxy.events.map(({ verb }) => verb), ['create']);
  });
  it('reads bodies that are YAML, and answers that are compressed', async () => {
    proxy.answer = (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(created)));
    };
    const { requestObject, responseObject } = await recorded({ 'content-type': 'application/yaml' }, 'kind: Tenant\nmetadata: { name: x }\n');
    assert.deepEqual([requestObject, responseObject], [{ kind: 'Tenant', metadata: { name: 'x' } }, created]);
  });
  it('leaves out a body that is too large, with a mark, and passes it on all the same', async () => {
    let got = 0;
    proxy.answer = (request, response) => {
      request.on('data', (chunk: Buffer) => (got += chunk.length));
      request.on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(created)));
    };
    const body = JSON.stringify({ ...tenant, spec: 'x'.repeat(200_000) });
    const { requestObject, responseObject, annotations } = await recorded({}, body);
    assert.equal(got, body.length);
    assert.deepEqual([requestObject, responseObject], [undefined, created]);
    assert.deepEqual(annotations, { 'audit-proxy.cozystack.io/request-body-not-recorded': 'larger than 2000 bytes', 'audit.k8s.io/truncated': 'true' });
    assert.equal(await proxy.metric('audit_proxy_unrecorded_bodies_total{body="request"}'), 1);
  });
  it('bounds what a compressed answer may become', async () => {
    proxy.answer = (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ ...created, spec: ' '.repeat(1_000_000) })));
    };
    const { responseObject, annotations } = await recorded({}, '{}');
    assert.deepEqual([responseObject, annotations?.['audit.k8s.io/truncated']], [undefined, 'true']);
  });
  it('says of a body that is no object of text why it is missing', async () => {
    const { requestObject, annotations } = await recorded({ 'content-type': 'application/vnd.kubernetes.protobuf' }, Buffer.from([0x6b, 0x38, 0x73, 0]));
    assert.deepEqual([requestObject, annotations], [undefined, { 'audit-proxy.cozystack.io/request-body-not-recorded': 'of type application/vnd.kubernetes.protobuf' }]);
  });
  it('records a refusal as its Status says', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 };
    proxy.answer = (_request, response) => response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status));
    const { responseStatus } = await recorded({}, '{}');
    assert.deepEqual(responseStatus, { metadata: {}, status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 });
  });
  it('records what the backend did not answer', async () => {
    proxy.answer = (_request, response) => response.stream.close(2);
    assert.equal((await recorded({}, '{}')).responseStatus?.code, 502);
  });
  it('records a client that was gone before the answer', async () => {
    const { promise: came, resolve } = Promise.withResolvers<void>();
    proxy.answer = () => resolve();
    const stream = proxy.open({ ':path': tenants, ':method': 'POST', 'content-length': '2' });
    stream.end('{}');
    await came;
    stream.close(8);
    const { responseStatus } = await eventually('an event', () => proxy.events[0]);
    assert.equal(responseStatus?.message, 'Connection closed early');
  });
  it('fails no request whose event is refused, or never delivered', async () => {
    for (const sink of [{ process: () => false }, { process: () => new Promise<boolean>(() => undefined) }]) {
      proxy.sink = sink;
      assert.equal((await proxy.ask({ ':path': tenants, ':method': 'POST', 'content-length': '2' }, { body: '{}' })).status, 201);
    }
    proxy.sink = { process: (event) => proxy.events.push(event) > 0 };
  });
});
