/** Bytes that may wait for the reader before the sender is asked to pause. */
const highWaterBytes = 4 << 20;
const lineFeed = 10;

/** Cuts chunks into lines, without their line feeds, for one reader. What follows the last line feed is a line as well. */
export class LineQueue implements AsyncIterable<Buffer> {
  /** Called when the reader has caught up after `push` said that it was full. */
  onDrained: () => void = () => undefined;
  #lines: Buffer[] = [];
  #rest: Buffer[] = [];
  #bytes = 0;
  #full = false;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  /** @returns whether the sender should pause until `onDrained` */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const line = chunk.subarray(start, end);
      this.#lines.push(this.#rest.length > 0 ? Buffer.concat([...this.#rest, line]) : line);
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    this.#bytes += chunk.length;
    this.#full ||= this.#bytes > highWaterBytes;
    this.#wake?.();
    return this.#full;
  }

  /** No more comes; with an error where it broke off. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (this.#rest.length > 0 && !error) this.#lines.push(Buffer.concat(this.#rest));
    this.#rest = [];
    this.#wake?.();
  }

  /** The lines that came before an error are delivered first. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const lines = this.#lines;
      this.#lines = [];
      this.#bytes = 0;
      yield* lines;
      if (this.#full && this.#lines.length === 0) {
        this.#full = false;
        this.onDrained();
      }
      if (this.#lines.length > 0) continue;
      if (this.#ended) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    if (this.#error) throw this.#error;
  }
}
