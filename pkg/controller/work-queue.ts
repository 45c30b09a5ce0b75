import { systemClock, type Clock } from './clock.ts';

export interface WorkQueueOptions {
  /** Does the work of one key. A rejection is retried, later each time. */
  process(key: string): Promise<void>;
  /** How many keys are worked on at a time. */
  workers?: number;
  firstRetryMs?: number;
  maxRetryMs?: number;
  onError?: (key: string, error: unknown, retryInMs: number) => void;
  clock?: Clock;
}

/**
 * Keys that wait for work. A key waits at most once and is worked on by one worker at a time; one that is added
 * while it is worked on is worked on again.
 */
export class WorkQueue {
  readonly #options: Required<Omit<WorkQueueOptions, 'onError'>> & Pick<WorkQueueOptions, 'onError'>;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { at: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(options: WorkQueueOptions) {
    this.#options = { workers: 4, firstRetryMs: 5, maxRetryMs: 60_000, clock: systemClock, ...options };
  }

  /** How many keys wait, without those that wait for a time. */
  get length(): number {
    return this.#waiting.size + this.#again.size;
  }

  /** The key is due now. A time it waited for is void: whoever works on it decides anew. */
  add(key: string): void {
    if (this.#state === 'stopped') return;
    this.#undelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#dispatch();
  }

  /** The key is due after `ms`, or earlier where it already was. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) return this.add(key);
    if (this.#state === 'stopped' || this.#waiting.has(key) || this.#again.has(key)) return;
    const at = this.#options.clock.now() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.cancel();
    this.#delayed.set(key, { at, cancel: this.#options.clock.after(ms, () => this.add(key)) });
  }

  /** Keys added before are kept until now. */
  start(): void {
    if (this.#state === 'new') this.#state = 'started';
    this.#dispatch();
  }

  /** Drops what waits; resolves when what runs is done. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#waiting.clear();
    this.#again.clear();
    await Promise.all(this.#running.values());
  }

  #dispatch(): void {
    if (this.#state !== 'started') return;
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.workers) return;
      this.#waiting.delete(key);
      this.#running.set(key, this.#work(key));
    }
  }

  async #work(key: string): Promise<void> {
    await Promise.resolve(); // the caller of add() goes on first, and a synchronous throw becomes a rejection
    try {
      await this.#options.process(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retry(key, error);
    } finally {
      this.#running.delete(key);
      if (this.#again.delete(key)) this.#waiting.add(key);
      this.#dispatch();
    }
  }

  #retry(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const delay = Math.min(this.#options.maxRetryMs, this.#options.firstRetryMs * 2 ** failures);
    this.#options.onError?.(key, error, delay);
    this.addAfter(key, delay);
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
  }
}
