import type { CacheEntry } from './cache-entry.ts';
import { EntryRange, Leaf, type Run } from './leaf.ts';

/** Entries a leaf holds at the most: small enough to be made anew at each change, large enough to be written at once. */
const maxLeafEntries = 128;

/**
 * Entries in the order of their keys. Keys are ASCII, so the order of UTF-16 units is etcd's order of bytes. Leaves are
 * never changed, so that a copy is cheap and ranges that were handed out stay as they are.
 */
export class OrderedEntries {
  #leaves: Leaf[];
  #size: number;

  constructor(entries: readonly CacheEntry[] = []) {
    const sorted = entries.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    this.#leaves = cut(sorted);
    this.#size = sorted.length;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): CacheEntry | undefined {
    const { leaf, index } = this.#position(key);
    const entry = this.#leaves[leaf]?.entries[index];
    return entry?.key === key ? entry : undefined;
  }

  set(entry: CacheEntry): void {
    const { leaf, index } = this.#position(entry.key);
    const entries = [...(this.#leaves[leaf]?.entries ?? [])];
    const replaces = entries[index]?.key === entry.key;
    entries.splice(index, replaces ? 1 : 0, entry);
    if (!replaces) this.#size += 1;
    this.#leaves.splice(leaf, 1, ...(entries.length > maxLeafEntries ? [new Leaf(entries.slice(0, entries.length / 2)), new Leaf(entries.slice(entries.length / 2))] : [new Leaf(entries)]));
  }

  delete(key: string): void {
    const { leaf, index } = this.#position(key);
    const entries = this.#leaves[leaf]?.entries;
    if (entries?.[index]?.key !== key) return;
    this.#size -= 1;
    this.#leaves.splice(leaf, 1, ...(entries.length === 1 ? [] : [new Leaf(entries.toSpliced(index, 1))]));
  }

  /** The entries of a namespace, or all; from `start` on, which is a key. */
  range(namespace: string | undefined, start?: string): EntryRange {
    const from = this.#position(start ?? (namespace === undefined ? '' : `${namespace}/`));
    const to = namespace === undefined ? { leaf: this.#leaves.length, index: 0 } : this.#position(`${namespace}0`); // '0' follows '/'
    const runs: Run[] = [];
    for (let at = from.leaf; at <= to.leaf && at < this.#leaves.length; at += 1) {
      const leaf = this.#leaves[at]!;
      const run = { leaf, from: at === from.leaf ? from.index : 0, to: at === to.leaf ? to.index : leaf.entries.length };
      if (run.from < run.to) runs.push(run);
    }
    return new EntryRange(runs);
  }

  copy(): OrderedEntries {
    const copy = new OrderedEntries();
    copy.#leaves = this.#leaves.slice();
    copy.#size = this.#size;
    return copy;
  }

  /** Where the first entry stands whose key is not less than `key`, or behind the last entry. */
  #position(key: string): { leaf: number; index: number } {
    const leaf = Math.max(0, lowerBound(this.#leaves, (candidate) => candidate.entries[0]!.key <= key) - 1);
    const index = lowerBound(this.#leaves[leaf]?.entries ?? [], (entry) => entry.key < key);
    return { leaf, index };
  }
}

/** How many items from the start on fulfil `before`, which holds for all up to some point and for none after it. */
const lowerBound = <T>(items: readonly T[], before: (item: T) => boolean): number => {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
};

const cut = (entries: readonly CacheEntry[]): Leaf[] => {
  const leaves: Leaf[] = [];
  for (let at = 0; at < entries.length; at += maxLeafEntries) leaves.push(new Leaf(entries.slice(at, at + maxLeafEntries)));
  return leaves;
};
