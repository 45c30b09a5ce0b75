import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { add, divideUp, exceeds, formatQuantity, parseQuantity, subtract, type Quantity } from './quantity.ts';

const read = (text: string | number): Quantity => {
  const quantity = parseQuantity(text);
  assert.ok(quantity, `${text} is a quantity`);
  return quantity;
};

/** Written, and written again by Kubernetes. */
const canonical: readonly (readonly [string | number, string])[] = [
  ['0', '0'], ['-0', '0'], ['0Ki', '0'], [0, '0'], ['1', '1'], [10, '10'], [1.5, '1500m'], ['+5', '5'], ['5.', '5'], ['.5', '500m'], ['-1.5', '-1500m'],
  ['100m', '100m'], ['1000m', '1'], ['1500m', '1500m'], ['0.1m', '100u'], ['1n', '1n'], ['0.1n', '1n'], ['-0.1n', '-1n'], ['1.0000000001', '1000000001n'],
  ['1000', '1k'], ['1024', '1024'], ['1k', '1k'], ['1000k', '1M'], ['1500000', '1500k'], ['1G', '1G'], ['1T', '1T'], ['1P', '1P'], ['1E', '1E'], ['1000P', '1E'],
  ['1Ki', '1Ki'], ['1024Ki', '1Mi'], ['1.5Gi', '1536Mi'], ['1000Ki', '1000Ki'], ['0.5Ki', '512'], ['0.5Mi', '512Ki'], ['1Ei', '1Ei'], ['1023Mi', '1023Mi'], ['0.0001Ki', '102400u'],
  ['1e3', '1e3'], ['1E3', '1e3'], ['12e2', '1200'], ['1e-3', '1e-3'], ['5e0', '5'], ['1e0', '1'], ['1.5e3', '1500'],
  ['9223372036854775807', '9223372036854775807'], ['9223372036854775808', '9223372036854775808'], ['100E', '100E'], ['-100E', '-100E'], ['2000E', '2000E'], ['1e21', '1e21'], ['1e99', '10e39'], ['1e-99', '1e-9'],
  ['1.1Ki', '1126400m'], ['1.0001Mi', '1048680857600u'], ['0.1Gi', '107374182400m'], ['2048m', '2048m'], ['-5Ki', '-5Ki'],
];

const none = ['', ' ', 'x', '1x', '1 ', ' 1', '1KI', '1ki', '1K', '--1', '1-', '1.2.3', '.', '1e', '1e1.5', '1ee3', '1eKi', '1mi', '0x10', '1_000', '١', 'NaN', 'Infinity', '1,5', '9'.repeat(101)];

describe('quantities', () => {
  for (const [written, again] of canonical) it(`${written} is written ${again}`, () => assert.equal(formatQuantity(read(written)), again));
  for (const text of none) it(`${JSON.stringify(text)} is none`, () => assert.equal(parseQuantity(text), undefined));
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) it(`${number} is none`, () => assert.equal(parseQuantity(number), undefined));

  it('are the same when read again from what was written', () => {
    const suffix = fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2');
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.nat(999), suffix, (whole, fraction, unit) => {
        const quantity = read(`${whole}.${fraction}${unit}`);
        const again = read(formatQuantity(quantity));
        assert.equal(again.nano, quantity.nano);
        assert.equal(formatQuantity(again), formatQuantity(quantity));
      }),
    );
  });

  it('lose nothing when summed and taken apart', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 })), (parts) => {
        const quantities = parts.map((part) => read(`${part}m`));
        const sum = quantities.reduce(add, read('0'));
        assert.equal(formatQuantity(quantities.reduce(subtract, sum)), '0');
      }),
    ));

  it('are exact where doubles are not', () => {
    assert.equal(formatQuantity(add(read('0.1'), read('0.2'))), '300m');
    assert.equal(formatQuantity(add(read('9007199254740993'), read('0.001'))), '9007199254740993001m');
    assert.ok(exceeds(read('9007199254740993'), read('9007199254740992')));
  });

  for (const [whole, ratio, unit, part] of [['1', '10', 1_000_000n, '100m'], ['1', '3', 1_000_000n, '334m'], ['1Gi', '1', undefined, '1Gi'], ['10Gi', '40', undefined, '256Mi'], ['1', '40', undefined, '1'], ['0', '40', undefined, '0'], ['3', '1.5', undefined, '2']] as const) {
    it(`${whole} divided by ${ratio} is ${part}`, () => assert.equal(formatQuantity(divideUp(read(whole), read(ratio), unit)), part));
  }

  it('are not divided by nothing', () => assert.throws(() => divideUp(read('1'), read('0')), RangeError));
});
