import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ManualClock } from './manual-clock.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

const queueOf = (process: WorkQueueOptions['process'], options: Partial<WorkQueueOptions> = {}) => {
  const clock = new ManualClock();
  return { clock, queue: new WorkQueue({ process, clock, ...options }) };
};

describe('WorkQueue', () => {
  it('works once on a key that was added many times, and not before start', async () => {
    const seen: string[] = [];
    const { clock, queue } = queueOf(async (key) => void seen.push(key));
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    await clock.advance(0);
    assert.deepEqual(seen, []);
    queue.start();
    await clock.advance(0);
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('works again on a key that was added while it was worked on', async () => {
    let runs = 0;
    const { clock, queue } = queueOf(async (key) => {
      runs += 1;
      if (runs === 1) queue.add(key);
    });
    queue.add('a');
    queue.start();
    await clock.advance(0);
    assert.equal(runs, 2);
  });

  it('retries a failure later each time, up to the cap, and forgets on success', async () => {
    const at: number[] = [];
    let failures = 0;
    const { clock, queue } = queueOf(
      async () => {
        at.push(clock.now());
        if (failures < 4) {
          failures += 1;
          throw new Error('not yet');
        }
      },
      { maxRetryMs: 25 },
    );
    queue.start();
    queue.add('a');
    await clock.advance(1000);
    assert.deepEqual(at, [0, 5, 15, 35, 60]);
    failures = 3;
    queue.add('a');
    await clock.advance(1000);
    assert.deepEqual(at.slice(5), [1000, 1005]);
  });

  it('does not wait for the delay when something happens meanwhile', async () => {
    const at: number[] = [];
    const { clock, queue } = queueOf(async () => void at.push(clock.now()));
    queue.start();
    queue.addAfter('a', 100);
    queue.addAfter('a', 500); // later than what is planned: void
    await clock.advance(40);
    queue.add('a');
    await clock.advance(1000);
    assert.deepEqual(at, [40]);
  });

  it('stops when what runs is done, and drops the rest', async () => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const { clock, queue } = queueOf(
      async (key) => {
        await gate.promise;
        seen.push(key);
      },
      { workers: 1 },
    );
    queue.add('a');
    queue.add('b');
    queue.start();
    await clock.advance(0);
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    await clock.advance(0);
    assert.equal(stopped, false);
    gate.resolve();
    await stopping;
    queue.add('c');
    await clock.advance(1000);
    assert.deepEqual(seen, ['a']);
  });

  it('never works on one key twice at a time, and on every key after its last addition', async () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)), { maxLength: 40 }), async (additions) => {
        const running = new Set<string>();
        const began = new Map<string, number>();
        const added = new Map<string, number>();
        let overlaps = 0; // an assertion in there would only be retried
        let step = 0;
        const { clock, queue } = queueOf(
          async (key) => {
            if (running.has(key)) overlaps += 1;
            running.add(key);
            began.set(key, (step += 1));
            await new Promise<void>((resolve) => void clock.after(7, resolve));
            running.delete(key);
          },
          { workers: 2 },
        );
        queue.start();
        for (const [key, pause] of additions) {
          added.set(key, (step += 1));
          queue.add(key);
          await clock.advance(pause);
        }
        await clock.advance(1000);
        assert.equal(overlaps, 0);
        for (const [key, at] of added) assert.ok(began.get(key)! > at);
      }),
      { numRuns: 30 },
    ));
});
