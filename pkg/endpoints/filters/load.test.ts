import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { RequestHandler } from 'express';
import { eventually } from '../../../test/poll.ts';
import type { UserInfo } from '../../authentication/user.ts';
import { readBody } from '../body.ts';
import { contextOf } from '../context.ts';
import { Deadlines } from '../deadlines.ts';
import { defaultQueueLimits, FairQueue } from '../flow/fair-queue.ts';
import { requestSignal } from '../handlers/scope.ts';
import { withMaxInFlight } from './max-in-flight.ts';
import { withPanicRecovery } from './panic-recovery.ts';
import { withRequestInfo } from './request-info.ts';
import { withRequestTimeout } from './request-timeout.ts';
import { serve, type Protocol, type Served } from './served-fixture.ts';

const tenants = '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants';
const as = (user: UserInfo): RequestHandler => (_req, res, next) => {
  contextOf(res).user = user;
  next();
};
const alice: UserInfo = { username: 'alice', groups: ['g'], extra: {} };

for (const protocol of ['HTTP/1.1', 'HTTP/2'] satisfies Protocol[]) {
  describe(`withMaxInFlight over ${protocol}`, () => {
    let served: Served;
    const arrivals = new EventEmitter();
    const queue = (maxInFlight: number): FairQueue => new FairQueue({ limits: { ...defaultQueueLimits, maxInFlight, maxWaitingPerUser: 1 } });
    const queues = { readOnly: queue(3), mutating: queue(1) };
    const dropped: string[] = [];
    let user = alice;
    let delay: Promise<void> = Promise.resolve();
    before(async () => {
      served = await serve(
        withPanicRecovery({ warn: () => undefined }),
        withRequestInfo(),
        (_req, res, next) => as(user)(_req, res, next),
        async (_req, res, next) => {
          const late = delay;
          res.once('close', () => arrivals.emit('closed'));
          arrivals.emit('early');
          await late;
          next();
          arrivals.emit('passed');
        },
        withMaxInFlight({ queues, onDropped: (kind) => dropped.push(kind) }),
        (req, res) => {
          arrivals.emit('arrived');
          if (req.url.includes('hold')) arrivals.once('release', () => res.end('{}'));
          else res.end('{}');
        },
      );
    });
    after(() => served.close());
    const hold = async (method: string): Promise<void> => {
      const arrived = once(arrivals, 'arrived');
      void served.connect(protocol).ask(method, `${tenants}?hold`).catch(() => undefined);
      await arrived;
    };

    it('counts reads and writes apart, watches not at all, lets one wait and masters through', async () => {
      for (let count = 0; count < 3; count += 1) await hold('GET');
      const connection = served.connect(protocol);
      const waiting = connection.ask('GET', tenants);
      await eventually('one waits', () => queues.readOnly.waiting === 1);
      const refused = await connection.ask('GET', tenants);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers['retry-after'], undefined); // by the renderer of the server
      assert.equal(refused.body.details.retryAfterSeconds, 1);
      assert.equal(refused.body.message, 'Too many requests, please try again later.');
      assert.deepEqual(dropped, ['readOnly']);
      assert.equal((await connection.ask('POST', tenants)).status, 200);
      assert.equal((await connection.ask('GET', `${tenants}?watch=1`)).status, 200);
      assert.equal((await connection.ask('GET', '/readyz')).status, 200);
      for (const exempt of [{ ...alice, groups: ['system:masters'] }, { ...alice, username: 'system:aggregator' }]) {
        user = exempt;
        assert.equal((await connection.ask('GET', tenants)).status, 200);
      }
      user = { ...alice, username: 'bob' };
      const other = connection.ask('GET', tenants);
      await eventually('bob waits, too', () => queues.readOnly.waiting === 2);
      user = alice;
      arrivals.emit('release');
      assert.deepEqual([(await waiting).status, (await other).status], [200, 200]);
      await eventually('all places are free', () => queues.readOnly.inFlight === 0 && queues.mutating.inFlight === 0);
    });

    it('gives a place back when the client goes away, and takes none for one that has gone', async () => {
      for (const phase of ['arrived', 'early'] as const) {
        let go = (): void => undefined;
        delay = phase === 'early' ? new Promise((resolve) => (go = resolve)) : Promise.resolve();
        const abort = new AbortController();
        const there = once(arrivals, phase);
        const asking = served.connect(protocol).ask('GET', `${tenants}?hold`, [], abort.signal).catch(() => 'aborted');
        await there;
        assert.equal(queues.readOnly.inFlight, phase === 'arrived' ? 1 : 0);
        const closed = once(arrivals, 'closed');
        abort.abort();
        assert.equal(await asking, 'aborted');
        if (phase === 'early') {
          await closed;
          const passed = once(arrivals, 'passed');
          go();
          await passed;
        }
        await eventually('no place is taken', () => queues.readOnly.inFlight === 0);
        delay = Promise.resolve();
      }
    });
  });

  describe(`withRequestTimeout over ${protocol}`, () => {
    let served: Served;
    const expired: string[] = [];
    before(async () => {
      served = await serve(
        withPanicRecovery({ warn: () => undefined }),
        withRequestInfo(),
        withRequestTimeout({ timeoutMs: 60_000, deadlines: new Deadlines(), onExpired: ({ verb }) => expired.push(verb) }),
        async (req, res) => {
          if (req.url.includes('begun')) return void res.write('{');
          if (req.url.includes('stuck')) return;
          if (req.method === 'POST') await readBody(req);
          const signal = requestSignal(res);
          if (req.url.includes('wait')) await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
          res.end('{}');
        },
      );
    });
    after(() => served.close());

    for (const { name, method, path, body } of [
      { name: 'that waits for the host', method: 'GET', path: '?wait' },
      { name: 'whose handler does not listen', method: 'GET', path: '?stuck' },
      { name: 'whose body does not come to its end', method: 'POST', path: '?x', body: true },
    ]) {
      it(`answers 504 to a request ${name}`, async () => {
        expired.length = 0;
        const answer = await served.connect(protocol).ask(method, `${tenants}${path}&timeout=300ms`, body ? ['content-length', '5'] : [], undefined, body);
        assert.equal(answer.status, 504);
        assert.deepEqual(answer.body, {
          apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code: 504, reason: 'Timeout',
          message: 'Timeout: request did not complete within the allotted timeout', details: {},
        });
        assert.equal(expired.length, 1);
      });
    }

    it('cuts off an answer that has begun, and leaves watches and what is in time alone', async () => {
      const connection = served.connect(protocol);
      await assert.rejects(connection.ask('GET', `${tenants}?begun&timeout=1ms`));
      assert.equal((await connection.ask('GET', `${tenants}?timeout=1h`)).status, 200);
      assert.equal((await connection.ask('GET', `${tenants}?watch=1&timeout=1ms`)).status, 200);
    });

    it('answers 400 to what is no duration', async () => {
      const { status, body } = await served.connect(protocol).ask('GET', `${tenants}?timeout=1x`);
      assert.deepEqual([status, body.message], [400, 'invalid timeout specified in the request URL - time: invalid duration "1x"']);
    });
  });
}
