import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BatchBackend, type BatchOptions } from './batch.ts';
import type { TruncateLimits } from './encoding.ts';
import { countedMetrics, eventNamed, Receiver } from './fixtures.ts';

const never = 2 ** 30;
const options: BatchOptions = { bufferSize: 100, maxBatchSize: 2, maxWaitMs: never, maxConcurrent: 10 };

const started = (receiver: Receiver, rest: Partial<BatchOptions> = {}, truncate?: TruncateLimits): { backend: BatchBackend; lost: (plugin: string) => Promise<number> } => {
  const { metrics, value } = countedMetrics();
  return { backend: new BatchBackend(receiver, { ...options, ...rest, truncate, metrics }), lost: (plugin) => value('apiserver_audit_error_total', { plugin }) };
};
const give = (backend: BatchBackend, ...ids: string[]): boolean[] => ids.map((id) => backend.process(eventNamed(id)));

describe('a batching backend', () => {
  it('sends a batch as soon as it is full', async () => {
    const receiver = new Receiver(true);
    const { backend } = started(receiver);
    give(backend, 'a', 'b', 'c');
    await receiver.arrived(1);
    assert.deepEqual(receiver.batches, [['a', 'b']]);
    await backend.stop(never);
    assert.deepEqual(receiver.batches, [['a', 'b'], ['c']]);
    assert.ok(receiver.closed);
  });

  it('sends what is there when the wait is over', async () => {
    const receiver = new Receiver(true);
    const { backend } = started(receiver, { maxWaitMs: 1 });
    give(backend, 'a');
    await receiver.arrived(1);
    give(backend, 'b');
    await receiver.arrived(2);
    assert.deepEqual(receiver.batches, [['a'], ['b']]);
    await backend.stop(never);
  });

  it('never refuses and never waits: what the queue cannot hold is dropped and counted', async () => {
    const receiver = new Receiver();
    const { backend, lost } = started(receiver, { bufferSize: 3, maxConcurrent: 1 });
    assert.deepEqual(give(backend, 'a', 'b', 'c', 'd', 'e'), [true, true, true, true, true]);
    assert.equal(await lost('buffered'), 2);
    await receiver.arrived(1);
    receiver.succeed();
    await new Promise(setImmediate);
    give(backend, 'f');
    await receiver.arrived(2);
    assert.deepEqual(receiver.batches, [['a', 'b'], ['c', 'f']]);
    receiver.succeed();
    await backend.stop(never);
    assert.equal(await lost('buffered'), 2);
  });

  it('holds only so much, however few events that is', async () => {
    const receiver = new Receiver();
    const { backend, lost } = started(receiver, { maxBatchSize: 100 });
    const large = 'x'.repeat(50 * 1024 * 1024);
    for (const id of ['a', 'b', 'c']) backend.process(eventNamed(id, { responseObject: large }));
    assert.equal(await lost('buffered'), 1);
    await backend.stop(0);
  });

  it('counts what a delivery gives up, and goes on', async () => {
    const receiver = new Receiver();
    const { backend, lost } = started(receiver, { maxConcurrent: 1 });
    give(backend, 'a', 'b', 'c', 'd');
    receiver.fail();
    await receiver.arrived(2);
    assert.equal(await lost('webhook'), 2);
    receiver.succeed();
    await backend.stop(never);
    assert.equal(await lost('webhook'), 2);
  });

  it('has no more batches under way than it may', async () => {
    const receiver = new Receiver();
    const { backend } = started(receiver, { maxConcurrent: 2 });
    give(backend, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    assert.equal(receiver.batches.length, 2);
    receiver.succeed();
    await receiver.arrived(3);
    assert.equal(receiver.batches.length, 3);
    await backend.stop(0);
  });

  it('is throttled', async () => {
    const receiver = new Receiver(true);
    const { backend } = started(receiver, { throttle: { qps: 50, burst: 2 } });
    const began = performance.now();
    give(backend, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    assert.equal(receiver.batches.length, 2);
    await receiver.arrived(4);
    assert.ok(performance.now() - began >= 35, 'two more tokens take 40 ms');
    await backend.stop(never);
  });

  it('takes no longer to stop than it may, and counts what is left', async () => {
    const receiver = new Receiver();
    const { backend, lost } = started(receiver, { maxConcurrent: 1 });
    give(backend, 'a', 'b', 'c');
    await backend.stop(10);
    assert.equal(await lost('webhook'), 2);
    assert.equal(await lost('buffered'), 1);
    assert.deepEqual(give(backend, 'late'), [true]);
    assert.equal(await lost('buffered'), 2);
  });

  it('leaves bodies out of events that are too large, and drops those that are still', async () => {
    const receiver = new Receiver(true);
    const { backend, lost } = started(receiver, { maxBatchSize: 10 }, { maxEventSize: 400, maxBatchSize: 700 });
    backend.process(eventNamed('fits', { level: 'RequestResponse', requestObject: 'x' }));
    backend.process(eventNamed('body', { level: 'RequestResponse', requestObject: 'x'.repeat(500), annotations: { a: 'b' } }));
    backend.process(eventNamed('body', { level: 'Metadata', requestURI: 'x'.repeat(500) }));
    backend.process(eventNamed('still', { level: 'Request', requestURI: 'x'.repeat(500) }));
    assert.equal(await lost('truncate'), 2);
    await backend.stop(never);
    assert.deepEqual(receiver.batches.flat(), ['fits', 'body']);
  });

  it('keeps batches to the limit of their size', async () => {
    const receiver = new Receiver(true);
    const { backend } = started(receiver, { maxBatchSize: 10 }, { maxEventSize: 400, maxBatchSize: 600 });
    give(backend, 'a', 'b', 'c', 'd', 'e');
    await backend.stop(never);
    assert.deepEqual(receiver.batches, [['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('delivers all, once, and in order', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 3 }), async (count, maxBatchSize, maxConcurrent) => {
        const receiver = new Receiver(true);
        const { backend, lost } = started(receiver, { maxBatchSize, maxConcurrent });
        const ids = Array.from({ length: count }, (_, index) => `${index}`);
        give(backend, ...ids);
        await backend.stop(never);
        assert.deepEqual(receiver.batches.flat(), ids);
        assert.ok(receiver.batches.every((batch) => batch.length <= maxBatchSize));
        assert.equal(await lost('buffered'), 0);
      }),
      { numRuns: 50 },
    ));
});
