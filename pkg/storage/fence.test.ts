import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { Fence } from './fence.ts';

/** A write whose answers are given by hand. */
const writes = () => {
  const open: ((version: number) => void)[] = [];
  return { open, write: () => new Promise<number>((resolve) => open.push(resolve)) };
};
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Fence', () => {
  it('is sent anew for who comes after one was sent', async () => {
    const { open, write } = writes();
    const fence = new Fence(write);
    const first = fence.version();
    await settle();
    const late = fence.version();
    assert.equal(open.length, 1);
    open[0]!(10);
    assert.equal(await first, 10);
    await settle();
    open[1]!(11);
    assert.equal(await late, 11);
  });

  it('is shared by all who wait for the next', async () => {
    const { open, write } = writes();
    const fence = new Fence(write);
    void fence.version();
    await settle();
    const waiting = [fence.version(), fence.version(), fence.version()];
    open[0]!(1);
    await settle();
    open[1]!(2);
    assert.deepEqual(await Promise.all(waiting), [2, 2, 2]);
    assert.equal(open.length, 2);
  });

  it('goes on after one that failed', async () => {
    let calls = 0;
    const fence = new Fence(() => ((calls += 1) === 1 ? Promise.reject(new Error('down')) : Promise.resolve(5)));
    await assert.rejects(fence.version(), /down/);
    assert.equal(await fence.version(), 5);
  });

  it('lets a burst through and then 20 a second', async () => {
    const clock = clockByHand();
    const fence = new Fence(() => Promise.resolve(0), clock);
    for (let index = 0; index < 22; index += 1) await fence.version();
    assert.deepEqual(clock.waits, [50, 50], 'the 21st and the 22nd wait for a token each');
    clock.time += 10_000;
    await fence.version();
    assert.deepEqual(clock.waits, [50, 50], 'after a pause there are tokens again');
  });

  it('does not hold up the next for ever when it is not answered', async () => {
    const { open, write } = writes();
    const clock = clockByHand();
    const fence = new Fence(write, clock);
    const first = fence.version();
    await settle();
    const next = fence.version();
    await settle();
    assert.equal(open.length, 1);
    clock.overtake();
    await settle();
    open[1]!(2);
    assert.equal(await next, 2);
    open[0]!(1);
    assert.equal(await first, 1);
  });
});

/** A clock that stands but for the waits for tokens, which it keeps; what waits to overtake goes on when told. */
const clockByHand = () => {
  const overtaking: (() => void)[] = [];
  const clock = {
    time: 0,
    waits: [] as number[],
    now: () => clock.time,
    sleep: async (milliseconds: number): Promise<void> => {
      if (milliseconds >= 1000) return new Promise<void>((resolve) => overtaking.push(resolve));
      clock.waits.push(milliseconds);
      clock.time += milliseconds;
    },
    overtake: () => overtaking.forEach((resolve) => resolve()),
  };
  return clock;
};
