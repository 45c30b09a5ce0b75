import type { CacheEntry } from './cache-entry.ts';

/** Entries in the order of their keys. Keys are ASCII, so the order of UTF-16 units is etcd's order of bytes. */
export class SortedEntries {
  #entries: CacheEntry[];

  constructor(entries: CacheEntry[] = []) {
    this.#entries = entries.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  get size(): number {
    return this.#entries.length;
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries[this.#position(key)];
    return entry?.key === key ? entry : undefined;
  }

  set(entry: CacheEntry): void {
    const at = this.#position(entry.key);
    this.#entries.splice(at, this.#entries[at]?.key === entry.key ? 1 : 0, entry);
  }

  delete(key: string): void {
    const at = this.#position(key);
    if (this.#entries[at]?.key === key) this.#entries.splice(at, 1);
  }

  /** The entries of a namespace, or all; from `start` on, which is a key. */
  slice(namespace: string | undefined, start?: string): CacheEntry[] {
    const from = this.#position(start ?? (namespace === undefined ? '' : `${namespace}/`));
    const to = namespace === undefined ? this.#entries.length : this.#position(`${namespace}0`); // '0' follows '/'
    return this.#entries.slice(from, to);
  }

  copy(): SortedEntries {
    const copy = new SortedEntries();
    copy.#entries = this.#entries.slice();
    return copy;
  }

  /** Where the first entry stands whose key is not less than `key`. */
  #position(key: string): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entries[middle]!.key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
