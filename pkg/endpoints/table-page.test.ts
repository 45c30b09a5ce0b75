import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ageChangesAt, humanDuration } from './duration.ts';
import { renderAgain, renderRows } from './table-page.ts';
import { renderRow, type RowTemplate } from './table.ts';

const now = Date.UTC(2026, 0, 1);
const text = fc.string({ unit: fc.constantFrom('a', '"', 'ö', '名', '😀') });
const row: fc.Arbitrary<RowTemplate> = fc
  .array(fc.nat(10 * 365 * 24 * 3600), { maxLength: 3 })
  .chain((ages) => fc.record({ since: fc.constant(ages.map((age) => now - age * 1000)), parts: fc.array(text, { minLength: ages.length + 1, maxLength: ages.length + 1 }) }));
const passing = fc.array(fc.nat(3 * 365 * 24 * 3600 * 1000), { maxLength: 3 });

describe('table page', () => {
  it('is the rows one after another, also when it is rendered again and again', () =>
    fc.assert(
      fc.property(fc.array(row), passing, (rows, times) => {
        const expected = (at: number): string => rows.map((each) => `,${renderRow(each, new Date(at))}`).join('');
        let page = renderRows(rows, now);
        assert.equal(page.bytes.toString(), expected(now));
        for (const time of times) {
          page = renderAgain(page, now + time);
          assert.equal(page.bytes.toString(), expected(now + time));
        }
      }),
    ));

  it('stays as it is until the time it says', () =>
    fc.assert(
      fc.property(fc.nat(12 * 365 * 24 * 3600 * 1000), fc.double({ min: 0, max: 0.9999, noNaN: true }), (age, part) => {
        const until = ageChangesAt(now - age, now);
        assert.ok(until > now);
        const between = now + Math.floor((until - now) * part); // rounded before the sum, whose grain is coarser
        assert.equal(humanDuration(between - (now - age)), humanDuration(age));
      }),
    ));
});
