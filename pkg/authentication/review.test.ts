import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { KubeClient } from '../kube/client.ts';
import { hasCode, StatusError, type StatusReason } from '../kube/status-error.ts';
import { ReviewCache } from './review-cache.ts';
import { reviewsBy } from './review.ts';

describe('reviewsBy', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0;
    const json = (() => (++calls <= times ? Promise.reject(error) : Promise.resolve({ ok: true }))) as KubeClient['json'];
    return { json, calls: () => calls };
  };
  const waits: number[] = [];
  const wait = (ms: number) => Promise.resolve(waits.push(ms));
  const status = (code: number, reason: StatusReason = '') => new StatusError(code, reason, 'x');

  for (const error of [status(500), status(504), status(429), StatusError.unavailable('x')]) {
    it(`tries a ${error.code} again`, async () => {
      const client = failing(4, error);
      waits.length = 0;
      assert.deepEqual(await reviewsBy(client, { wait })('/p', {}), { ok: true });
      assert.equal(waits.length, 4);
      for (const [at, ms] of waits.entries()) assert.ok(ms >= 500 * 1.5 ** at && ms <= 600 * 1.5 ** at);
    });
  }
  it('gives up after five attempts', async () => {
    const client = failing(9, status(500));
    await assert.rejects(reviewsBy(client, { wait })('/p', {}), (error) => hasCode(error, 500));
    assert.equal(client.calls(), 5);
  });
  it('takes a 403 for an answer', async () => {
    const client = failing(1, status(403));
    await assert.rejects(reviewsBy(client, { wait })('/p', {}), (error) => hasCode(error, 403));
    assert.equal(client.calls(), 1);
  });
  it('answers 503 when time is up', async () => {
    const json = (({ signal }: { signal: AbortSignal }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    })) as unknown as KubeClient['json'];
    const alive = setTimeout(() => undefined, 5_000); // the timeout itself keeps no process alive
    await assert.rejects(reviewsBy({ json }, { timeoutMs: 20 })('/p', {}), (error) => hasCode(error, 503));
    clearTimeout(alive);
  });
});

describe('ReviewCache', () => {
  it('drops the one not used for longest', async () => {
    const cache = new ReviewCache<string>({ size: 2, ttlMs: () => 1_000, now: () => 0 });
    let asked = 0;
    const get = (key: string) => cache.get(key, () => Promise.resolve(`${key}${++asked}`));
    await get('a');
    await get('b');
    await get('a');
    await get('c');
    assert.equal(await get('a'), 'a1');
    assert.equal(await get('b'), 'b4');
    assert.equal(cache.size, 2);
  });
  it('keeps no failure, nothing without a life, and nothing it is told not to keep', async () => {
    const cache = new ReviewCache<number>({ size: 2, ttlMs: (value) => value, now: () => 0 });
    await assert.rejects(cache.get('a', () => Promise.reject(new Error('no'))));
    await cache.get('a', () => Promise.resolve(0));
    await cache.get('a', () => Promise.resolve(5), false);
    assert.equal(cache.size, 0);
  });
});
