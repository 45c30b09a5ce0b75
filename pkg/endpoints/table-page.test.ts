import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ageChangesAt, humanDuration } from './duration.ts';
import { pageOf, renderPage } from './table-page.ts';
import { renderRow, type RowTemplate } from './table.ts';

const now = Date.UTC(2026, 0, 1);
const row: fc.Arbitrary<RowTemplate> = fc
  .array(fc.nat(10 * 365 * 24 * 3600), { maxLength: 3 })
  .chain((ages) => fc.record({ since: fc.constant(ages.map((age) => now - age * 1000)), parts: fc.array(fc.string(), { minLength: ages.length + 1, maxLength: ages.length + 1 }) }));

describe('table page', () => {
  it('is the rows one after another', () =>
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const rendered = renderPage(pageOf(rows), new Date(now));
        assert.equal(rendered.bytes.toString(), Buffer.from(rows.map((each) => `,${renderRow(each, new Date(now))}`).join('')).toString());
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
