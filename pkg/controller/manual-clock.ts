import type { Clock } from './clock.ts';

/** A clock that moves only when told to. */
export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  constructor(start = 0) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** What is due on the way is run in its order, each at its own time; promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await settle();
    }
    this.#now = end;
  }
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
