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
    let now = 0;
    let sent = 0;
    const fence = new Fence(() => Promise.resolve((sent += 1)), () => now);
    for (let index = 0; index < 20; index += 1) await fence.version();
    const started = performance.now();
    await fence.version();
    assert.ok(performance.now() - started >= 40, 'the 21st waits for its token');
    now += 10_000;
    const again = performance.now();
    await fence.version();
    assert.ok(performance.now() - again < 40, 'after a pause there are tokens again');
    assert.equal(sent, 22);
  });
});
