import type { CacheEntry } from './cache-entry.ts';

/** Selections that a leaf keeps at the most: those asked for last. */
const maxSelections = 4;
/** What a leaf keeps besides its entries at the most, in sizes of their JSON. */
const maxKeptShare = 1.25;

export type Selects = (entry: CacheEntry) => boolean;

/** What was made of entries. */
export interface Kept {
  /** May grow as it is used. */
  readonly byteLength: number;
  /** Made anew at little more cost than that of sending it. */
  readonly cheap?: boolean;
}

/**
 * Neighbouring entries, with what was made of all of them together: as much of it as fits, what was used last before other.
 * Immutable: a change makes another leaf.
 */
export class Leaf implements Kept {
  readonly entries: readonly CacheEntry[];
  /** The leaf that this is a selection of; they share what may be kept. */
  readonly #whole: Leaf | undefined;
  readonly #forms = new Map<string, Kept>(); // in the order of use
  readonly #selections = new Map<string, Leaf>(); // as well
  #entriesLength: number | undefined;

  constructor(entries: readonly CacheEntry[], whole?: Leaf) {
    this.entries = entries;
    this.#whole = whole;
  }

  /** Of all that is kept besides the entries. */
  get byteLength(): number {
    let sum = 0;
    for (const { byteLength } of this.#forms.values()) sum += byteLength;
    for (const leaf of this.#selections.values()) if (leaf !== this) sum += leaf.byteLength;
    return sum;
  }

  /** What `make` makes of the entries; made once a form, as long as there is room to keep it. */
  derived<T extends Kept>(form: string, make: (entries: readonly CacheEntry[]) => T): T {
    const kept = this.#forms.get(form) as T | undefined;
    const made = kept ?? make(this.entries);
    this.#forms.delete(form);
    this.#forms.set(form, made);
    if (!kept) {
      this.#makeRoom();
      if (this.#whole) this.#whole.#makeRoom();
    }
    return made;
  }

  /** The selected entries as a leaf of their own, which may be kept, with what is made of them, under the selection's name. */
  selected(selection: string, selects: Selects): Leaf {
    let leaf = this.#selections.get(selection);
    if (leaf) this.#selections.delete(selection);
    else {
      const entries = this.entries.filter(selects);
      leaf = entries.length === this.entries.length ? this : new Leaf(entries, this);
    }
    this.#selections.set(selection, leaf);
    if (this.#selections.size > maxSelections) this.#selections.delete(this.#selections.keys().next().value!);
    return leaf;
  }

  /** Lets go of what costs least to make anew, and of that what was not used for the longest time. One of each kind stays. */
  #makeRoom(): void {
    this.#entriesLength ??= this.entries.reduce((sum, { json }) => sum + json.length, 0);
    let excess = this.byteLength - maxKeptShare * this.#entriesLength;
    const drop = (from: Map<string, Kept>, may: (kept: Kept) => boolean): void => {
      for (const [name, kept] of from) {
        if (excess <= 0 || from.size === 1) return;
        if (may(kept) && from.delete(name)) excess -= kept.byteLength;
      }
    };
    drop(this.#selections, (leaf) => leaf !== this);
    drop(this.#forms, ({ cheap }) => cheap === true);
    drop(this.#forms, () => true);
  }
}

/** Entries `from` (inclusive) `to` (exclusive) of a leaf. */
export interface Run {
  leaf: Leaf;
  from: number;
  to: number;
}

export const isWhole = ({ leaf, from, to }: Run): boolean => from === 0 && to === leaf.entries.length;

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

  /** All that are selected; what was made of the selected entries of a leaf is used again by who names the selection so. */
  selected(selection: string, selects: Selects): EntryRange {
    return new EntryRange(
      this.runs.flatMap((run) => {
        if (!isWhole(run)) return new EntryRange([run]).select(selects).range.runs;
        const leaf = run.leaf.selected(selection, selects);
        return leaf.entries.length > 0 ? [{ leaf, from: 0, to: leaf.entries.length }] : [];
      }),
    );
  }

  /** Those that are selected, `limit` at the most; `more` where entries follow that were not looked at. */
  select(selects: Selects, limit = Infinity): { range: EntryRange; more: boolean } {
    const runs: Run[] = [];
    let left = limit;
    for (const { leaf, from, to } of this.runs) {
      let start = from;
      for (let index = from; index < to; index += 1) {
        if (left > 0 && selects(leaf.entries[index]!)) {
          left -= 1;
          continue;
        }
        if (start < index) runs.push({ leaf, from: start, to: index });
        if (left === 0) return { range: new EntryRange(runs), more: true };
        start = index + 1;
      }
      if (start < to) runs.push({ leaf, from: start, to });
    }
    return { range: new EntryRange(runs), more: false };
  }

  get last(): CacheEntry | undefined {
    const run = this.runs.at(-1);
    return run && run.leaf.entries[run.to - 1];
  }
}
