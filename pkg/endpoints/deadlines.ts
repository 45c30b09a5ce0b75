const tickMs = 250;

/** Something to be done at a time, unless it is cancelled before. */
export class Deadline {
  readonly #entries: Set<Deadline>;
  readonly act: () => void;

  constructor(entries: Set<Deadline>, act: () => void) {
    this.#entries = entries;
    this.act = act;
    entries.add(this);
  }

  cancel(): void {
    this.#entries.delete(this);
  }
}

/** Deadlines of requests, to a quarter of a second: one timer serves them all, since nearly none is ever reached. */
export class Deadlines {
  /** By tick. */
  readonly #due = new Map<number, Set<Deadline>>();
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Acts once the time has passed, not before. */
  after(ms: number, act: () => void): Deadline {
    this.#timer ??= setInterval(() => this.#advance(), tickMs).unref();
    const tick = this.#tick + Math.ceil(ms / tickMs) + 1;
    let entries = this.#due.get(tick);
    if (!entries) this.#due.set(tick, (entries = new Set()));
    return new Deadline(entries, act);
  }

  #advance(): void {
    this.#tick += 1;
    const entries = this.#due.get(this.#tick);
    this.#due.delete(this.#tick);
    for (const { act } of entries ?? []) act();
    if (this.#due.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
