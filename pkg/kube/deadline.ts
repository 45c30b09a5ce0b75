/** Aborts after a time, or with another signal. Lighter than AbortSignal.any, which a request a millisecond would feel. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
  passed = false;

  constructor(ms: number, outer?: AbortSignal) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#controller.abort(new Error(`no answer within ${ms} ms`));
    }, ms);
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Takes the time limit back; the outer signal still aborts. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Nothing aborts any more. */
  release(): void {
    this.clear();
    this.#outer?.removeEventListener('abort', this.#abort);
  }
}
