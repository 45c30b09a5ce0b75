import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { goDuration, microClock, microTime } from './micro-time.ts';

describe('times of events', () => {
  for (const [milliseconds, text] of [
    [0, '1970-01-01T00:00:00.000000Z'],
    [1_700_000_000_123.456, '2023-11-14T22:13:20.123456Z'],
    [1_700_000_000_123.9998, '2023-11-14T22:13:20.124000Z'],
  ] as const) it(`${milliseconds} is ${text}`, () => assert.equal(microTime(milliseconds), text));

  it('keep their order as texts', () =>
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4e12, noNaN: true }), fc.double({ min: 0.002, max: 1e9, noNaN: true }), (at, later) => {
        assert.ok(microTime(at) <= microTime(at + later));
      }),
    ));

  for (const [milliseconds, text] of [
    [0, '0s'], [0.012, '12µs'], [1.5, '1.5ms'], [665.438, '665.438ms'], [1000, '1s'], [1442.089, '1.442089s'], [60_000, '1m0s'], [62_250, '1m2.25s'], [3_603_000, '1h0m3s'],
  ] as const) it(`${milliseconds} ms is ${text} to Go`, () => assert.equal(goDuration(milliseconds), text));

  it('follow the wall clock when it is set, and are finer in between', () => {
    const at = { wall: 1_000_000, steady: 50.25 };
    const clock = microClock(() => at.wall, () => at.steady);
    assert.equal(clock(), 1_000_000);
    Object.assign(at, { wall: 1_000_001, steady: 51.5 });
    assert.equal(clock(), 1_000_001.25);
    Object.assign(at, { wall: 5_000_000, steady: 52 });
    assert.equal(clock(), 5_000_000);
  });
});
