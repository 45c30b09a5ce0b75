import type { Log } from '../controller/log.ts';

const everyMs = 10_000;

/** What an attack, or a mistake, looks like in the log: the first of each kind at once, and then how many more there were. Metrics count them all. */
export class RefusalLog {
  readonly #log: Log;
  readonly #everyMs: number;
  /** By kind: how many there were since the last line. */
  readonly #more = new Map<string, number>();

  constructor(log: Log, interval = everyMs) {
    this.#log = log;
    this.#everyMs = interval;
  }

  /** @param why one of few: each has a line of its own @param level of what is no business of the operator's, info */
  note(why: string, fields: object, level: 'info' | 'warn' = 'warn'): void {
    const more = this.#more.get(why);
    if (more !== undefined) return void this.#more.set(why, more + 1);
    this.#more.set(why, 0);
    this.#log[level]({ ...fields, why }, 'refused');
    setTimeout(() => this.#sum(why, level), this.#everyMs).unref();
  }

  #sum(why: string, level: 'info' | 'warn'): void {
    const more = this.#more.get(why)!;
    if (more === 0) return void this.#more.delete(why);
    this.#more.set(why, 0);
    this.#log[level]({ why, more, seconds: this.#everyMs / 1000 }, 'refused more of the same');
    setTimeout(() => this.#sum(why, level), this.#everyMs).unref();
  }
}
