/** Runs tasks a few ahead of whoever asks for their results in order. */
export class Pool<T> {
  readonly #tasks: readonly (() => Promise<T>)[];
  readonly #started = new Map<number, Promise<T>>();
  readonly #ahead: number;

  constructor(tasks: readonly (() => Promise<T>)[], ahead: number) {
    this.#tasks = tasks;
    this.#ahead = ahead;
  }

  result(index: number): Promise<T> {
    for (let next = index; next <= index + this.#ahead && next < this.#tasks.length; next += 1) this.#start(next);
    return this.#started.get(index)!;
  }

  #start(index: number): void {
    if (this.#started.has(index)) return;
    const running = this.#tasks[index]!();
    running.catch(() => undefined); // told to whoever asks
    this.#started.set(index, running);
  }
}
