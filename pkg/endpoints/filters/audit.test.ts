import { afterEach, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { RequestHandler } from 'express';
import type { Event } from '../../audit/event.ts';
import { countedMetrics } from '../../audit/fixtures.ts';
import { policyEvaluator, type PolicyRule } from '../../audit/policy.ts';
import type { Sink } from '../../audit/sink.ts';
import { silentLog } from '../../controller/log.ts';
import { StatusError } from '../../kube/status-error.ts';
import { errorHandler } from '../../server/chain.ts';
import { RefusalLog } from '../../server/refusal-log.ts';
import { contextOf } from '../context.ts';
import { sendValue } from '../respond.ts';
import { withAudit, withFailedAuthenticationAudit, withReceivedTime } from './audit.ts';
import { withAuditId } from './audit-id.ts';
import { withRequestInfo } from './request-info.ts';
import { serve, type Connection, type Protocol, type Served } from './served-fixture.ts';

const path = '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants/t';
const ada: RequestHandler = (_req, res, next) => {
  contextOf(res).user = { username: 'ada', groups: [], extra: {} };
  next();
};
const nobody: RequestHandler = (_req, _res, next) => next(StatusError.unauthorized());
const fine: RequestHandler = (_req, res) => sendValue(res, 200, { kind: 'Tenant' }, { mediaType: 'application/json', pretty: false });

/** Keeps events, and lets a test wait for them. */
class Keeper implements Sink {
  readonly events: Event[] = [];
  readonly #answer: boolean | Promise<boolean>;
  #waiting: (() => void)[] = [];

  constructor(answer: boolean | Promise<boolean> = true) {
    this.#answer = answer;
  }

  process(event: Event): boolean | Promise<boolean> {
    this.events.push(event);
    for (const wake of this.#waiting.splice(0)) wake();
    return this.#answer;
  }

  async until(stage: Event['stage']): Promise<Event> {
    for (;;) {
      const found = this.events.find((event) => event.stage === stage);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

for (const protocol of ['HTTP/1.1', 'HTTP/2'] satisfies Protocol[]) {
  describe(`withAudit over ${protocol}`, () => {
    let served: Served | undefined;
    const metrics = countedMetrics();
    const start = async (handler: RequestHandler, sink: Sink, { user = ada, rule = { level: 'Metadata' } }: { user?: RequestHandler; rule?: PolicyRule } = {}): Promise<Connection> => {
      const auditing = { evaluate: policyEvaluator({ rules: [rule] }), sink, metrics: metrics.metrics, clock: () => Date.now() };
      served = await serve(withReceivedTime(auditing.clock), withRequestInfo(), withAuditId(() => 'id'), user, withFailedAuthenticationAudit(auditing) as never, withAudit(auditing), handler, errorHandler(silentLog, new RefusalLog(silentLog)) as never);
      return served.connect(protocol);
    };
    afterEach(() => served?.close());

    it('tells of a request when it comes in and when it is answered', async () => {
      const sink = new Keeper();
      await (await start(fine, sink)).ask('GET', path);
      const event = await sink.until('ResponseComplete');
      assert.deepEqual(sink.events.map(({ stage }) => stage), ['RequestReceived', 'ResponseComplete']);
      assert.deepEqual([event.auditID, event.user.username, event.responseStatus, event.sourceIPs], ['id', 'ada', { metadata: {}, code: 200 }, ['127.0.0.1']]);
    });

    it('tells of a watch when its answer begins, and in which state it ends', async () => {
      const sink = new Keeper();
      await (await start(fine, sink)).ask('GET', '/apis/apps.cozystack.io/v1alpha1/tenants?watch=1');
      await sink.until('ResponseComplete');
      assert.deepEqual(sink.events.map(({ stage, responseStatus }) => [stage, responseStatus?.code]), [['RequestReceived', undefined], ['ResponseStarted', 200], ['ResponseComplete', 200]]);
    });

    it('tells of an unforeseen error as a panic, and nothing of what it says', async () => {
      const sink = new Keeper();
      const fails: RequestHandler = () => {
        throw new Error('token=secret');
      };
      assert.equal((await (await start(fails, sink, { rule: { level: 'RequestResponse' } })).ask('GET', path)).status, 500);
      const event = await sink.until('Panic');
      assert.equal(event.responseStatus?.code, 500);
      assert.ok(!JSON.stringify(sink.events).includes('secret'));
      assert.deepEqual(sink.events.map(({ stage }) => stage), ['RequestReceived', 'Panic']);
    });

    it('refuses what a strict sink could not store, before anything is done, and counts it', async () => {
      const sink = new Keeper(Promise.resolve(false));
      let done = false;
      const before = await metrics.value('apiserver_audit_requests_rejected_total');
      const { status, body } = await (await start(() => void (done = true), sink)).ask('GET', path);
      assert.deepEqual([status, body.message, done], [500, 'Internal error occurred: failed to store audit event', false]);
      assert.equal(await metrics.value('apiserver_audit_requests_rejected_total'), before + 1);
      assert.deepEqual(sink.events.map(({ stage }) => stage), ['RequestReceived']);
    });

    it('lets a request wait for a sink that blocks', async () => {
      let stored: (answer: boolean) => void = () => undefined;
      const sink = new Keeper(new Promise((resolve) => (stored = resolve)));
      let handled = false;
      const asked = (await start((req, res, next) => {
        handled = true;
        fine(req, res, next);
      }, sink)).ask('GET', path);
      await sink.until('RequestReceived');
      assert.equal(handled, false);
      stored(true);
      assert.equal((await asked).status, 200);
    });

    it('tells how a request ended whose client had gone', async () => {
      const sink = new Keeper();
      const client = new AbortController();
      let finish: () => void = () => undefined;
      const connection = await start((req, res, next) => {
        finish = () => fine(req, res, next);
        res.once('close', () => setImmediate(finish));
        client.abort();
      }, sink);
      await assert.rejects(connection.ask('GET', path, [], client.signal));
      assert.deepEqual((await sink.until('ResponseComplete')).responseStatus, { metadata: {}, code: 200 });
    });

    it('tells of a failed authentication by one event', async () => {
      const sink = new Keeper();
      assert.equal((await (await start(fine, sink, { user: nobody })).ask('GET', path)).status, 401);
      const event = await sink.until('ResponseStarted');
      assert.deepEqual([sink.events.length, event.user, event.responseStatus?.code, event.responseStatus?.reason], [1, {}, 401, 'Unauthorized']);
    });

    it('says nothing where the policy wants nothing', async () => {
      const sink = new Keeper();
      const connection = await start(fine, sink, { rule: { level: 'None' } });
      await connection.ask('GET', path);
      await connection.ask('GET', path);
      assert.deepEqual(sink.events, []);
    });
  });
}
