import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'mocha';
import { eventually } from '../../../test/poll.ts';
import { defaultQueueLimits, FairQueue, type FairQueueLimits, type Place } from './fair-queue.ts';

const make = (limits: Partial<FairQueueLimits>, load = (): number => 0.8) => {
  let now = 0;
  const queue = new FairQueue({ limits: { ...defaultQueueLimits, maxInFlight: 4, ...limits }, load, now: () => now });
  const started: string[] = [];
  const refused: string[] = [];
  const enter = (user: string): Place => {
    const place = queue.enter(user, 'get', () => started.push(user), () => refused.push(user));
    if (place.state === 'executing') started.push(user);
    if (place.state === 'over') refused.push(user);
    return place;
  };
  return { queue, started, refused, enter, many: (user: string, count: number) => Array.from({ length: count }, () => enter(user)), pass: (ms: number) => void (now += ms) };
};

describe('FairQueue', () => {
  it('starts what there is room for at once, and others as places are given back', async () => {
    const { queue, started, enter, many } = make({ maxInFlight: 2 });
    const [first] = many('a', 1);
    enter('b');
    const waiting = enter('c');
    assert.deepEqual([started.join(), queue.inFlight, queue.waiting, waiting.state], ['a,b', 2, 1, 'waiting']);
    first!.answered();
    await turn();
    assert.equal(waiting.state, 'waiting', 'the answer has not been taken yet');
    first!.over();
    await turn();
    assert.deepEqual([started.join(), waiting.state, queue.inFlight], ['a,b,c', 'executing', 2]);
  });

  it('lets a newcomer go before the many who wait of a user who has more under way', async () => {
    const { started, enter, many } = make({ maxInFlight: 4 });
    const flood = many('flood', 100);
    enter('quiet');
    await turn();
    assert.equal(started.at(-1), 'quiet', 'a user never gets the last place');
    enter('quiet');
    enter('other');
    flood[0]!.over();
    await turn();
    assert.equal(started.at(-1), 'other', 'nothing of his is under way');
  });

  it('gives equal users turns', async () => {
    const { started, many } = make({ maxInFlight: 1 });
    const [first] = many('x', 1);
    const places = [...many('a', 3), ...many('b', 3), ...many('c', 3)];
    first!.over();
    await turn();
    for (let count = 0; count < 8; count += 1) {
      places.find(({ state }) => state === 'executing')!.over();
      await turn();
    }
    assert.equal(started.join(''), 'xabcabcabc');
  });

  it('keeps queues bounded, and at the expense of whoever fills them', () => {
    const { queue, refused, many } = make({ maxInFlight: 1, maxWaitingPerUser: 5, maxWaiting: 8 });
    many('a', 10);
    assert.deepEqual([refused.length, queue.waiting], [4, 5]);
    many('b', 4);
    assert.deepEqual([refused.join(''), queue.waiting], ['aaaaa', 8]);
  });

  it('turns away who has waited too long', async () => {
    const { refused, many, pass, queue } = make({ maxInFlight: 1, maxWaitMs: 1000 });
    const [first] = many('a', 3);
    pass(1000);
    await eventually('both are refused', () => refused.length === 2);
    first!.over();
    assert.deepEqual([queue.inFlight, queue.waiting], [0, 0]);
  });

  it('forgets who goes away while waiting', async () => {
    const { started, many, queue } = make({ maxInFlight: 1 });
    const [first, second] = many('a', 3);
    second!.over();
    assert.equal(queue.waiting, 1);
    first!.over();
    first!.over();
    await turn();
    assert.deepEqual([started.length, queue.inFlight, queue.waiting], [2, 1, 0]);
  });

  it('works on less at a time while the process is saturated, and on more again when it is not', async () => {
    let load = 1;
    const { queue, many } = make({ maxInFlight: 100, minExecuting: 3 }, () => load);
    const places = many('a', 60);
    await eventually('the ceiling sinks', () => queue.ceiling === 3);
    load = 0.1;
    await eventually('the ceiling rises until all are under way', () => queue.waiting === 0);
    for (const place of places) place.over();
    assert.equal(queue.inFlight, 0);
  });

  it('works on less at a time while requests take much longer than usual, though the process has nothing to do', async () => {
    const { queue, many, pass } = make({ maxInFlight: 100, minExecuting: 3 }, () => 0);
    const [alone] = many('a', 1);
    pass(10);
    alone!.over(); // that is usual
    const places = many('a', 70);
    const slow = setInterval(() => {
      pass(100);
      places.find(({ state }) => state === 'executing')?.over();
    }, 5);
    await eventually('the ceiling sinks', () => queue.ceiling < 16).finally(() => clearInterval(slow));
    const [other] = many('b', 1);
    await turn();
    assert.equal(other!.state, 'executing', 'who has nothing under way need not wait for those who have');
    for (const place of places) place.over();
  });

  it('never gives more than three quarters of the places to one user', async () => {
    const { queue, many } = make({ maxInFlight: 8 }, () => 0);
    many('a', 20);
    await turn();
    assert.equal(queue.inFlight, 6);
    many('b', 5);
    await turn();
    assert.equal(queue.inFlight, 8);
  });
});
