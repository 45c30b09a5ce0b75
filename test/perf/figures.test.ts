import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { growsNoMoreThan, growthOf, heapGrowth } from './growth.ts';
import { parseOptions } from './options.ts';
import { percentile } from './percentile.ts';
import { profileSummary } from './profile-summary.ts';
import { number, textTable, times } from './text-table.ts';

describe('percentile', () => {
  for (const { of100, expected } of [{ of100: 0, expected: 1 }, { of100: 50, expected: 5 }, { of100: 51, expected: 6 }, { of100: 99, expected: 10 }, { of100: 100, expected: 10 }]) {
    it(`${of100} of 1 to 10, in any order, is ${expected}`, () => assert.equal(percentile([7, 3, 10, 1, 9, 2, 8, 4, 6, 5], of100), expected));
  }

  it('is one of the values, and so many of a hundred do not exceed it', () =>
    fc.assert(fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.integer({ min: 1, max: 100 }), (values, of100) => {
      const found = percentile(values, of100);
      assert.ok(values.includes(found));
      assert.ok(values.filter((value) => value <= found).length * 100 >= of100 * values.length);
    })));

  it('of nothing there is none', () => assert.throws(() => percentile([], 50), RangeError));
});

describe('figures', () => {
  for (const { value, expected } of [{ value: null, expected: '-' }, { value: 0.123, expected: '0.12' }, { value: 12.34, expected: '12.3' }, { value: 123.4, expected: '123' }]) {
    it(`${value} is shown as ${expected}`, () => assert.equal(number(value), expected));
  }
  for (const { dividend, divisor, expected } of [
    { dividend: 3, divisor: 2, expected: '1.5x' },
    { dividend: 30, divisor: 2, expected: '15x' },
    { dividend: 3, divisor: 0, expected: '-' },
    { dividend: null, divisor: 2, expected: '-' },
    { dividend: 3, divisor: undefined, expected: '-' },
  ]) {
    it(`${dividend} over ${divisor} is ${expected}`, () => assert.equal(times(dividend, divisor), expected));
  }
  it('stand in columns, numbers to the right', () => assert.equal(textTable(['name', 'ms'], [['a', '1.00'], ['longer', '10']]), 'name      ms\n------  ----\na       1.00\nlonger    10'));
});

describe('growth', () => {
  for (const { growth, before, after, good } of [
    { growth: 'flat', before: 1, after: 1.2, good: true },
    { growth: 'flat', before: 1, after: 2, good: false },
    { growth: 'linear', before: 1, after: 4.5, good: true },
    { growth: 'linear', before: 1, after: 8, good: false },
  ] as const) {
    it(`from ${before} to ${after} with four times the objects is ${good ? '' : 'no longer '}${growth}`, () => assert.equal(growsNoMoreThan(growth, before, after, 4), good));
  }
  for (const [operation, growth] of Object.entries({ 'list Table, gzip': 'linear', 'start to ready': 'linear', 'page of 500, gzip': 'flat', get: 'flat', 'event to 500 watchers': 'flat' })) {
    it(`${operation} may grow ${growth}`, () => assert.equal(growthOf(operation), growth));
  }
  it('of the heap is told in sizes of the JSON that was added', () => assert.equal(heapGrowth({ heapMb: 50, jsonMb: 4 }, { heapMb: 80, jsonMb: 14 }), 3));
  it('of the heap is unknown where it was not measured', () => {
    assert.equal(heapGrowth({ heapMb: null, jsonMb: 4 }, { heapMb: 80, jsonMb: 14 }), undefined);
    assert.equal(heapGrowth({ heapMb: 50, jsonMb: 4 }, { heapMb: 80, jsonMb: 4 }), undefined);
  });
});

describe('options of the benchmark', () => {
  it('sorts the numbers of objects', () => assert.deepEqual(parseOptions(['--objects', '20000,5000']).objects, [5000, 20000]));
  it('takes names of operations in any case', () => assert.deepEqual(parseOptions(['--only', 'GET']).only, ['get']));
  it('refuses what is no number, and what it does not know', () => {
    assert.throws(() => parseOptions(['--watchers', '1e3']), TypeError);
    assert.throws(() => parseOptions(['--fast']), TypeError);
  });
});

describe('profile summary', () => {
  it('leaves idle time out, and adds up by folder or package and by function', () => {
    const frame = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url, lineNumber: 9 } });
    const nodes = [frame(1, '(idle)'), frame(2, 'get', 'file:///root/pkg/kube/client.ts'), frame(3, 'send', 'file:///root/pkg/kube/transport.ts'), frame(4, 'handle', 'file:///root/node_modules/router/index.js')];
    const summary = profileSummary({ nodes, samples: [1, 2, 3, 4, 2], timeDeltas: [9000, 1000, 2000, 1000, 4000] }, '/root');
    const lines = summary.split('\n').map((line) => line.split(/\s{2,}/));
    assert.deepEqual(lines.slice(2, 4), [['pkg/kube', '7.0', '87.5'], ['node_modules/router', '1.0', '12.5']]);
    assert.deepEqual(lines[7], ['get pkg/kube/client.ts:10', '5.0', '62.5']);
  });
});
