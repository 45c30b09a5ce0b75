import { setTimeout as sleep } from 'node:timers/promises';

/** Fences a second on the average, and how many may come at once after a pause. */
const perSecond = 20;
const burst = 20;

/** How long a fence that is not answered holds up the next, in milliseconds. */
const overtakenAfterMs = 1000;

/** What a fence needs of time. */
export interface FenceClock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(milliseconds: number): Promise<unknown>;
}

const realClock: FenceClock = { now: Date.now, sleep: (milliseconds) => sleep(milliseconds, undefined, { ref: false }) };

/**
 * Proves how fresh the watch cache is. A fence is a write to the watched collection: once the cache has seen the
 * version that the write got, it has seen every write acknowledged before the fence was sent. Whoever asks while one
 * is under way shares the next.
 */
export class Fence {
  readonly #write: () => Promise<number>;
  readonly #clock: FenceClock;
  #next: Promise<number> | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #tokens = burst;
  #filledAt: number;

  /** `write` sends the fence and gives the version it got. */
  constructor(write: () => Promise<number>, clock: FenceClock = realClock) {
    this.#write = write;
    this.#clock = clock;
    this.#filledAt = clock.now();
  }

  /** The version of a fence that is sent after this call. Rejects where it cannot be written. */
  version(): Promise<number> {
    this.#next ??= this.#send();
    return this.#next;
  }

  async #send(): Promise<number> {
    await this.#current;
    const wait = this.#delay();
    if (wait > 0) await this.#clock.sleep(wait);
    const sent = this.#write();
    this.#current = Promise.race([sent.catch(() => undefined), this.#clock.sleep(overtakenAfterMs)]);
    this.#next = undefined; // from here on a caller comes too late for this one
    return sent;
  }

  /** Milliseconds until the next fence may be sent; takes its token. */
  #delay(): number {
    const now = this.#clock.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / perSecond) * 1000;
  }
}
