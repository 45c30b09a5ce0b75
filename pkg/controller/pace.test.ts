import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeRequest } from '../kube/client.ts';
import { ManualClock } from './manual-clock.ts';
import { Pace, pacedClient, pacedTarget } from './pace.ts';

/** When each of some turns came, in ms, that were all asked for at once. */
const turnsOf = async (pace: Pace, clock: ManualClock, count: number): Promise<number[]> => {
  const came: number[] = [];
  const all = Array.from({ length: count }, () => pace.turn().then(() => void came.push(clock.now())));
  await clock.advance(60_000);
  await Promise.all(all);
  return came;
};

describe('pace', () => {
  for (const { name, perSecond, burst, turns } of [
    { name: 'lets a burst through at once, and then one after the other', perSecond: 10, burst: 3, turns: [0, 0, 0, 100, 200] },
    { name: 'without a burst begins at once and goes on evenly', perSecond: 2, burst: 1, turns: [0, 500, 1000] },
  ]) it(name, async () => {
    const clock = new ManualClock();
    assert.deepEqual(await turnsOf(new Pace({ perSecond, burst }, clock), clock, turns.length), turns);
  });

  it('gives a burst again after a rest', async () => {
    const clock = new ManualClock();
    const pace = new Pace({ perSecond: 10, burst: 2 }, clock);
    await turnsOf(pace, clock, 5);
    assert.deepEqual(await turnsOf(pace, clock, 3), [60_000, 60_000, 60_100]);
  });

  it('gives in no time more than the burst and what the time allows', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10 }), fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 }), async (perSecond, burst, pauses) => {
        const clock = new ManualClock();
        const pace = new Pace({ perSecond, burst }, clock);
        const came: number[] = [];
        const all: Promise<void>[] = [];
        for (const pause of pauses) {
          await clock.advance(pause);
          all.push(pace.turn().then(() => void came.push(clock.now())));
        }
        await clock.advance(60_000);
        await Promise.all(all);
        assert.deepEqual(came, came.toSorted((a, b) => a - b));
        for (const [first, from] of came.entries())
          for (const [last, to] of came.entries()) if (last >= first) assert.ok(last - first + 1 <= burst + ((to - from) * perSecond) / 1000 + 1e-6);
      }),
      { numRuns: 50 },
    ));

  it('is kept by all writes, and by no read', async () => {
    const clock = new ManualClock();
    const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
    const asked: string[] = [];
    const tell = async <T>(what: string, answer: T): Promise<T> => {
      asked.push(`${what} ${clock.now()}`);
      return answer;
    };
    const pace = new Pace({ perSecond: 1, burst: 1 }, clock);
    const target = pacedTarget({ get: () => tell('get', object), apply: () => tell('apply', object), delete: () => tell('delete', undefined) }, pace);
    const client = pacedClient({ json: ({ method }: KubeRequest) => tell(`json ${method}`, object) } as unknown as KubeClient, pace);
    const all = Promise.all([target.apply(object), target.delete('', 'one', 'uid'), client.json({ method: 'PATCH', path: '/' }), target.get('', 'one'), client.json({ method: 'GET', path: '/' })]);
    await clock.advance(10_000);
    await all;
    assert.deepEqual(asked.toSorted(), ['apply 0', 'delete 1000', 'get 0', 'json GET 0', 'json PATCH 2000']);
  });
});
