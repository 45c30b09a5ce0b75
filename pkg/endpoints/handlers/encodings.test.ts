import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { CacheEntry } from '../../storage/cache-entry.ts';
import { OrderedEntries } from '../../storage/ordered-entries.ts';
import { gzipParts } from '../gzip-pieces.ts';
import { itemForm, itemGzipPieces, itemPieces } from './encodings.ts';

const texts = fc.constantFrom('plain', 'größer', '名前', '😀', '');
const entries = fc.array(texts, { maxLength: 400 }).map((all) => all.map((text, index) => new CacheEntry({
  apiVersion: 'g/v1', kind: 'K', metadata: { namespace: 'n', name: `x${1000 + index}`, resourceVersion: String(index), annotations: { text } },
})));
const conversions = fc.constantFrom(undefined, { kind: 'PartialObjectMetadataList', version: 'v1' } as const);

describe('items of a list', () => {
  it('are the bytes of those selected, each behind a comma, however the selection cuts leaves', () =>
    fc.assert(fc.property(entries, conversions, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 420 }), (all, as, every, limit) => {
      const form = itemForm(as);
      const whole = new OrderedEntries(all).range(undefined);
      const { range } = whole.select(({ version }) => version % every === 0, limit);
      const expected = (of: Iterable<CacheEntry>): string => [...of].map((entry) => `,${form.encode(entry)}`).join('');
      assert.equal(Buffer.concat(itemPieces(range, form)).toString(), expected(range));
      assert.equal(Buffer.concat(itemPieces(whole.first(limit), form)).toString(), expected(whole.first(limit)));
    })));

  it('compressed are the same without the first comma', () =>
    fc.assert(fc.asyncProperty(entries, fc.integer({ min: 1, max: 3 }), async (all, every) => {
      const form = itemForm(undefined);
      const { range } = new OrderedEntries(all).range(undefined).select(({ version }) => version % every === 0);
      const [plain, compressed] = [Buffer.concat(itemPieces(range, form)), await itemGzipPieces(range, form)];
      assert.equal(gunzipSync(Buffer.concat(gzipParts(compressed))).toString(), plain.toString().slice(1));
    }), { numRuns: 30 }));

  it('of a selection are one piece where no leaf is whole', () => {
    const all = Array.from({ length: 300 }, (_, index) => new CacheEntry({ apiVersion: 'g/v1', kind: 'K', metadata: { namespace: 'n', name: `x${1000 + index}`, resourceVersion: String(index) } }));
    const { range } = new OrderedEntries(all).range(undefined).select(({ version }) => version % 7 === 3);
    assert.equal(itemPieces(range, itemForm(undefined)).length, 1);
  });
});
