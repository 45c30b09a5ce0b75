interface Entry<V> {
  value: V;
  until: number;
}

export interface ReviewCacheOptions<V> {
  /** Entries at most; the one not used for longest goes first. */
  size: number;
  /** Milliseconds that an answer is good for. */
  ttlMs: (value: V) => number;
  now?: () => number;
}

/** Answers to reviews by key: each good for a while, and one question in flight a key. Failures are not kept. */
export class ReviewCache<V> {
  readonly #options: Required<ReviewCacheOptions<V>>;
  readonly #entries = new Map<string, Entry<V>>(); // in the order of use
  readonly #asking = new Map<string, Promise<V>>();

  constructor(options: ReviewCacheOptions<V>) {
    this.#options = { ...options, now: options.now ?? Date.now };
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The kept answer, or that of `ask`. `keep` false: the answer goes to those who wait for it only. */
  get(key: string, ask: () => Promise<V>, keep = true): Promise<V> {
    const entry = this.#entries.get(key);
    if (entry) {
      this.#entries.delete(key);
      if (entry.until > this.#options.now()) {
        this.#entries.set(key, entry);
        return Promise.resolve(entry.value);
      }
    }
    let asking = this.#asking.get(key);
    if (!asking) {
      asking = this.#ask(key, ask, keep).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  async #ask(key: string, ask: () => Promise<V>, keep: boolean): Promise<V> {
    const value = await ask();
    const ttl = this.#options.ttlMs(value);
    if (!keep || ttl <= 0) return value;
    this.#entries.set(key, { value, until: this.#options.now() + ttl });
    if (this.#entries.size > this.#options.size) this.#entries.delete(this.#entries.keys().next().value!);
    return value;
  }
}
