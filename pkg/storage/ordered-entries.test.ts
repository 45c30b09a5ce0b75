import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { CacheEntry } from './cache-entry.ts';
import type { Leaf, Run } from './leaf.ts';
import { OrderedEntries } from './ordered-entries.ts';

const entry = (key: string, version: number): CacheEntry => {
  const [namespace, name] = key.split('/') as [string, string];
  return new CacheEntry({ apiVersion: 'g/v1', kind: 'K', metadata: { namespace, name, resourceVersion: String(version) } });
};
const shown = (entries: Iterable<CacheEntry>): string[] => [...entries].map(({ key, version }) => `${key}@${version}`);
const key = fc.tuple(fc.constantFrom('a', 'a-b', 'b', 'c'), fc.integer({ min: 0, max: 400 })).map(([namespace, number]) => `${namespace}/x${number}`);

describe('OrderedEntries', () => {
  it('behaves as a sorted map does, and leaves earlier ranges and copies alone', () =>
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 300 }), fc.array(fc.tuple(key, fc.boolean()), { maxLength: 300 }), (initial, changes) => {
        const model = new Map(initial.map((each, index) => [each, index]));
        const entries = new OrderedEntries(initial.map((each, index) => entry(each, index)));
        const [before, copy] = [entries.range(undefined), entries.copy()];
        const shownBefore = shown(before);
        changes.forEach(([each, remove], index) => {
          if (remove) {
            model.delete(each);
            entries.delete(each);
          } else {
            model.set(each, 1000 + index);
            entries.set(entry(each, 1000 + index));
          }
        });
        const sorted = [...model].toSorted(([a], [b]) => (a < b ? -1 : 1));
        const expect = (part: [string, number][]): string[] => part.map(([each, version]) => `${each}@${version}`);
        assert.deepEqual(shown(entries.range(undefined)), expect(sorted));
        for (const namespace of ['a', 'a-b', 'b', 'c', 'z']) {
          assert.deepEqual(shown(entries.range(namespace)), expect(sorted.filter(([each]) => each.startsWith(`${namespace}/`))));
          assert.deepEqual(shown(entries.range(namespace, `${namespace}/x2`)), expect(sorted.filter(([each]) => each.startsWith(`${namespace}/`) && each >= `${namespace}/x2`)));
        }
        const range = entries.range(undefined);
        assert.deepEqual(shown(range.first(7)), expect(sorted.slice(0, 7)));
        assert.equal(range.first(7).last?.key, sorted.slice(0, 7).at(-1)?.[0]);
        assert.equal(entries.size, model.size);
        assert.equal(range.size, model.size);
        for (const [each, version] of model) assert.equal(entries.get(each)?.version, version);
        assert.deepEqual(shown(before), shownBefore);
        assert.deepEqual(shown(copy.range(undefined)), shownBefore);
      }),
    ));

  it('selects what fits, up to a limit, and tells whether it looked at all', () =>
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 300 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 320 }), (keys, every, limit) => {
        const all = [...new OrderedEntries(keys.map((each, index) => entry(each, index))).range(undefined)];
        const range = new OrderedEntries(keys.map((each, index) => entry(each, index))).range(undefined);
        const selects = ({ version }: CacheEntry): boolean => version % every === 0;
        const wanted = all.filter(selects);
        assert.deepEqual(shown(range.select(selects).range), shown(wanted));
        for (const again of [1, 2]) assert.deepEqual(shown(range.selected(String(every), selects)), shown(wanted), `time ${again}`);
        const page = range.select(selects, limit);
        assert.deepEqual(shown(page.range), shown(wanted.slice(0, limit)));
        assert.equal(page.range.size, Math.min(limit, wanted.length));
        assert.equal(page.more, wanted.length >= limit && wanted[limit - 1] !== all.at(-1));
      }),
    ));

  it('makes what is made of a leaf once, as long as the leaf stays', () => {
    const entries = new OrderedEntries(Array.from({ length: 300 }, (_, index) => entry(`a/x${1000 + index}`, 1)));
    let made = 0;
    const all = (): void => entries.range(undefined).runs.forEach(({ leaf }) => leaf.derived('keys', (each) => ((made += 1), Buffer.from(each.map((one) => one.key).join()))));
    all();
    assert.equal(made, 3);
    entries.set(entry('a/x1000', 2));
    all();
    assert.equal(made, 4);
  });

  it('keeps of what is made of a leaf what was used last, in proportion to the entries', () => {
    const [{ leaf }] = new OrderedEntries(Array.from({ length: 100 }, (_, index) => entry(`a/x${1000 + index}`, index))).range(undefined).runs as [Run];
    const size = leaf.entries.reduce((sum, { json }) => sum + json.length, 0);
    const made: string[] = [];
    const use = (of: Leaf, form: string, bytes: number): void => void of.derived(form, () => (made.push(form), Buffer.alloc(bytes)));
    use(leaf, 'a', size);
    use(leaf, 'b', size / 5);
    use(leaf, 'a', size);
    use(leaf, 'c', size / 5); // b goes
    use(leaf, 'a', size);
    use(leaf, 'b', size / 5); // c goes
    use(leaf, 'huge', 2 * size); // all others go
    use(leaf, 'huge', 2 * size);
    assert.deepEqual(made.splice(0), ['a', 'b', 'c', 'b', 'huge']);
    const odd = leaf.selected('odd', ({ version }) => version % 2 === 1);
    use(odd, 'a', size / 2);
    assert.ok(leaf.byteLength <= 2.5 * size, 'a selection and a form, each the only one, stay');
    use(leaf, 'a', size / 2);
    use(leaf.selected('odd', () => true), 'a', size / 2);
    assert.deepEqual(made.splice(0), ['a', 'a'], 'beside what is small enough, a selection stays');
    leaf.derived('cheap', () => ({ byteLength: size, cheap: true }));
    use(leaf, 'a', size / 2);
    assert.deepEqual(made, [], 'what is made anew at little cost goes before what was used earlier');
  });

  it('keeps the last selections of a leaf as leaves, until the leaf goes', () => {
    const entries = new OrderedEntries(Array.from({ length: 300 }, (_, index) => entry(`a/x${1000 + index}`, index)));
    let looked = 0;
    const select = (remainder: number): CacheEntry[] => [...entries.range(undefined).selected(`${remainder}`, ({ version }) => ((looked += 1), version % 7 === remainder))];
    const first = select(3);
    assert.deepEqual([select(3), looked], [first, 300]);
    for (const other of [0, 1, 2, 4]) select(other);
    looked = 0;
    select(3);
    assert.equal(looked, 300, 'four others have driven it out');
    entries.set(entry('a/x1000', 3));
    assert.equal(select(3).length, first.length + 1);
    assert.equal(looked, 300 + 128, 'the changed leaf is looked through again');
  });
});
