import type { CacheEntry } from './cache-entry.ts';

/** Neighbouring entries, with what was made of all of them together. Immutable: a change makes another leaf. */
export class Leaf {
  readonly entries: readonly CacheEntry[];
  readonly #forms = new Map<string, unknown>();

  constructor(entries: readonly CacheEntry[]) {
    this.entries = entries;
  }

  /** What `make` makes of the entries, made once a form. */
  derived<T>(form: string, make: (entries: readonly CacheEntry[]) => T): T {
    if (!this.#forms.has(form)) this.#forms.set(form, make(this.entries));
    return this.#forms.get(form) as T;
  }
}

/** Entries `from` (inclusive) `to` (exclusive) of a leaf. */
export interface Run {
  leaf: Leaf;
  from: number;
  to: number;
}

/** Consecutive entries as of one moment, in runs of leaves, so that what leaves have made is used again. */
export class EntryRange implements Iterable<CacheEntry> {
  readonly runs: readonly Run[];
  readonly size: number;

  constructor(runs: readonly Run[]) {
    this.runs = runs;
    this.size = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  static of(entries: readonly CacheEntry[]): EntryRange {
    return new EntryRange(entries.length === 0 ? [] : [{ leaf: new Leaf(entries), from: 0, to: entries.length }]);
  }

  *[Symbol.iterator](): Generator<CacheEntry> {
    for (const { leaf, from, to } of this.runs) for (let index = from; index < to; index += 1) yield leaf.entries[index]!;
  }

  first(count: number): EntryRange {
    const runs: Run[] = [];
    let left = count;
    for (const { leaf, from, to } of this.runs) {
      if (left <= 0) break;
      const end = Math.min(to, from + left);
      runs.push({ leaf, from, to: end });
      left -= end - from;
    }
    return new EntryRange(runs);
  }

  filter(selects: (entry: CacheEntry) => boolean): CacheEntry[] {
    const selected: CacheEntry[] = [];
    for (const { leaf, from, to } of this.runs) {
      for (let index = from; index < to; index += 1) if (selects(leaf.entries[index]!)) selected.push(leaf.entries[index]!);
    }
    return selected;
  }

  get last(): CacheEntry | undefined {
    const run = this.runs.at(-1);
    return run && run.leaf.entries[run.to - 1];
  }
}
