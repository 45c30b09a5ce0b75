import { setTimeout as sleep } from 'node:timers/promises';

/** Fences a second on the average, and how many may come at once after a pause. */
const perSecond = 20;
const burst = 20;

/**
 * Proves how fresh the watch cache is. A fence is a write to the watched collection: once the cache has seen the
 * version that the write got, it has seen every write acknowledged before the fence was sent. Whoever asks while one
 * is under way shares the next.
 */
export class Fence {
  readonly #write: () => Promise<number>;
  readonly #now: () => number;
  #next: Promise<number> | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #tokens = burst;
  #filledAt: number;

  /** `write` sends the fence and gives the version it got. */
  constructor(write: () => Promise<number>, now: () => number = Date.now) {
    this.#write = write;
    this.#now = now;
    this.#filledAt = now();
  }

  /** The version of a fence that is sent after this call. Rejects where it cannot be written. */
  version(): Promise<number> {
    this.#next ??= this.#send();
    return this.#next;
  }

  async #send(): Promise<number> {
    await this.#current.catch(() => undefined);
    const wait = this.#delay();
    if (wait > 0) await sleep(wait, undefined, { ref: false });
    const sent = this.#write();
    this.#current = sent;
    this.#next = undefined; // from here on a caller comes too late for this one
    return sent;
  }

  /** Milliseconds until the next fence may be sent; takes its token. */
  #delay(): number {
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / perSecond) * 1000;
  }
}
