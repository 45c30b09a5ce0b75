/** Keeps what passes by, up to a limit; beyond it nothing is kept, only that there was more. */
export class Capture {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  truncated = false;

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    if (this.truncated) return;
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= this.#limit) return;
    this.truncated = true;
    this.#chunks = [];
  }

  /** Empty where nothing passed by, and where it was too much. */
  bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}
