/**
 * Requests that all write to one object of the host. Those that come while a batch is served wait and are the next batch,
 * so that a process never conflicts with itself, and many requests at once cost few writes.
 */
export class Batches<Request> {
  readonly #serve: (requests: readonly Request[]) => Promise<void>;
  #waiting: Request[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  /** @param serve answers each request, and never rejects */
  constructor(serve: (requests: readonly Request[]) => Promise<void>) {
    this.#serve = serve;
  }

  add(requests: readonly Request[]): void {
    this.#waiting.push(...requests);
    if (this.#waiting.length === requests.length) void this.inTurn(() => this.#serve(this.#waiting.splice(0)));
  }

  /** Does other work on the object, between batches. @returns what became of it */
  inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
