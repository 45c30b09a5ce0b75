import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { Event } from './event.ts';
import type { RequestAudit } from './policy.ts';
import { AuditRecord, type RequestFacts } from './record.ts';

const facts: RequestFacts = {
  auditId: 'id',
  receivedAt: 1000,
  verb: 'create',
  requestUri: '/apis/example.org/v1/namespaces/n/things',
  userAgent: 'test',
  sourceAddresses: ['10.0.0.1'],
  user: { username: 'ada', uid: '', groups: ['builders'], extra: {} },
  object: { resource: 'things', namespace: 'n', apiGroup: 'example.org', apiVersion: 'v1' },
};
const object = { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 't', namespace: 'n', uid: 'u', resourceVersion: '7', managedFields: [{ manager: 'm' }] } };

const recorded = (audit: Partial<RequestAudit> = {}, more: Partial<RequestFacts> = {}): { record: AuditRecord; events: Event[]; at: { now: number } } => {
  const events: Event[] = [];
  const at = { now: 1000.5 };
  const sink = { process: (event: Event) => events.push(event) > 0 };
  return { record: new AuditRecord({ ...facts, ...more }, { level: 'RequestResponse', omitStages: new Set(), omitManagedFields: false, ...audit }, sink, () => at.now), events, at };
};

describe('the record of a request', () => {
  it('begins with what is known when the request is received, at that time', () => {
    const { record, events } = recorded();
    assert.equal(record.process('RequestReceived'), true);
    assert.deepEqual(events, [
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'RequestResponse',
        auditID: 'id',
        stage: 'RequestReceived',
        requestURI: facts.requestUri,
        verb: 'create',
        user: { username: 'ada', groups: ['builders'] },
        sourceIPs: ['10.0.0.1'],
        userAgent: 'test',
        objectRef: facts.object,
        requestReceivedTimestamp: '1970-01-01T00:00:01.000000Z',
        stageTimestamp: '1970-01-01T00:00:01.000000Z',
      },
    ]);
  });

  it('leaves events as they are once they are given away', () => {
    const { record, events } = recorded();
    void record.process('RequestReceived');
    const before = JSON.stringify(events[0]);
    record.requestObject(object);
    record.responseCode(201);
    record.annotate('a', 'b');
    assert.equal(JSON.stringify(events[0]), before);
  });

  for (const [level, request, response] of [['Metadata', false, false], ['Request', true, false], ['RequestResponse', true, true]] as const) {
    it(`keeps at level ${level} ${request ? 'the request' : 'no body'}${response ? ' and the answer' : ''}`, () => {
      const { record, events } = recorded({ level });
      record.requestObject(object);
      record.responseObject(object);
      void record.process('ResponseComplete');
      assert.deepEqual([events[0]!.requestObject !== undefined, events[0]!.responseObject !== undefined], [request, response]);
      assert.equal(events[0]!.objectRef?.name, 't');
    });
  }

  it('takes identity from the request where the path says nothing, and from what was written where the request says nothing', () => {
    const { record, events } = recorded({}, { object: { ...facts.object, name: 'of-the-path' } });
    record.requestObject({ metadata: { name: 'of-the-body', resourceVersion: '5' } });
    record.written({ metadata: { name: 'of-the-answer', uid: 'new', resourceVersion: '9' } });
    void record.process('ResponseComplete');
    assert.deepEqual(events[0]!.objectRef, { ...facts.object, name: 'of-the-path', resourceVersion: '5', uid: 'new' });
  });

  it('omits managed fields of objects, lists and tables, and touches none of them', () => {
    for (const body of [object, { kind: 'List', items: [object, object] }, { kind: 'Table', rows: [{ cells: [], object }, { cells: [] }] }]) {
      const before = JSON.stringify(body);
      const { record, events } = recorded({ omitManagedFields: true });
      record.requestObject(body);
      record.responseObject(body);
      void record.process('ResponseComplete');
      assert.deepEqual([JSON.stringify(events[0]!.requestObject), JSON.stringify(events[0]!.responseObject)], Array(2).fill(before.replaceAll(/,"managedFields":\[.*?\]/g, '')));
      assert.equal(JSON.stringify(body), before);
    }
  });

  it('shows a Status as the status of the answer, at any level', () => {
    const { record, events } = recorded({ level: 'Metadata' });
    record.responseObject({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'NotFound', message: 'not found', code: 404 });
    record.responseCode(404);
    void record.process('ResponseComplete');
    assert.deepEqual(events[0]!.responseStatus, { metadata: {}, status: 'Failure', reason: 'NotFound', message: 'not found', code: 404 });
  });

  it('tells of an unforeseen failure without its text', () => {
    const { record, events } = recorded();
    record.panic();
    record.responseCode(500);
    void record.process('Panic');
    assert.deepEqual(events[0]!.responseStatus, { metadata: {}, status: 'Failure', reason: 'InternalError', code: 500, message: "APIServer panic'd: an unexpected error; see the server log" });
  });

  it('tells who is impersonated, and by which constrained mode', () => {
    const { record, events } = recorded();
    record.impersonated({ username: 'bob', groups: [], extra: { scope: ['wide'] } }, 'impersonate:user-info');
    void record.process('ResponseComplete');
    assert.deepEqual([events[0]!.impersonatedUser, events[0]!.authenticationMetadata], [{ username: 'bob', extra: { scope: ['wide'] } }, { impersonationConstraint: 'impersonate:user-info' }]);
  });

  it('keeps the first value of an annotation, and sorts them', () => {
    const { record, events } = recorded();
    for (const [key, value] of [['b', '1'], ['a', '2'], ['b', '3']] as const) record.annotate(key, value);
    void record.process('ResponseComplete');
    assert.equal(JSON.stringify(events[0]!.annotations), '{"a":"2","b":"1"}');
  });

  for (const [now, annotations] of [[1500, undefined], [1500.1, { 'apiserver.latency.k8s.io/authorization': '12µs', 'apiserver.latency.k8s.io/total': '500.1ms' }]] as const) {
    it(`${annotations ? 'tells' : 'does not tell'} what took ${now - 1000} ms`, () => {
      const { record, events, at } = recorded();
      at.now = now;
      record.annotateLatency(new Map([['authorization', 0.012]]));
      void record.process('ResponseComplete');
      assert.deepEqual(events[0]!.annotations, annotations);
    });
  }

  it('makes no event of a stage that is left out', () => {
    const { record, events } = recorded({ omitStages: new Set(['RequestReceived']) });
    assert.equal(record.process('RequestReceived'), true);
    void record.process('ResponseComplete');
    assert.deepEqual(events.map(({ stage }) => stage), ['ResponseComplete']);
  });

  it('cuts a User-Agent after 1024 bytes, and reads it as UTF-8', () => {
    const { record, events } = recorded({}, { userAgent: `${Buffer.from('é').toString('latin1')}${'x'.repeat(1100)}` });
    void record.process('RequestReceived');
    assert.equal(events[0]!.userAgent, `é${'x'.repeat(1022)}...TRUNCATED`);
  });

  it('says nothing of whom nobody knows, and of what is no resource', () => {
    const { record, events } = recorded({}, { user: undefined, object: undefined });
    void record.process('RequestReceived');
    assert.deepEqual([events[0]!.user, events[0]!.objectRef], [{}, undefined]);
  });

  it('is answered once', () => {
    const { record, events } = recorded();
    let told = 0;
    record.onAnswered = () => void (told += 1);
    record.responseCode(200);
    record.responseCode(500);
    void record.process('ResponseComplete');
    assert.deepEqual([told, events[0]!.responseStatus?.code], [1, 200]);
  });
});
