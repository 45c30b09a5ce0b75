/** How often something may be done: `burst` times at once, and `qps` times a second in the long run. */
export interface ThrottleOptions {
  qps: number;
  burst: number;
}

/** A token bucket. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  /** @param now steady milliseconds */
  constructor(options: ThrottleOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
    this.#tokens = options.burst;
    this.#at = now();
  }

  /** Takes a token. @returns 0, or the milliseconds until there is one */
  take(): number {
    const { qps, burst } = this.#options;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * qps);
    this.#at = now;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / qps) * 1000);
    this.#tokens -= 1;
    return 0;
  }
}
