import { readFile } from 'node:fs/promises';

/** A projected ServiceAccount token is written anew when 80 % of its life, an hour by default, is over. */
const readAgainMs = 10_000;

/** A ServiceAccount's token in a file, read again as it rotates. One that was read holds until it is replaced. */
export class TokenFile {
  readonly #file: string;
  #token = '';
  #fault: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws Error where there is no token to begin with */
  async start(): Promise<void> {
    await this.#read();
    if (this.#token === '') throw new Error(this.#fault);
    this.#timer = setInterval(() => void this.#read(), readAgainMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get current(): string {
    return this.#token;
  }

  /** What is wrong with the file now; never what is in it. */
  fault(): string | undefined {
    return this.#fault;
  }

  async #read(): Promise<void> {
    try {
      const text = (await readFile(this.#file, 'utf8')).trim();
      if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('it holds no token');
      this.#token = text;
      this.#fault = undefined;
    } catch (error) {
      this.#fault = `the token file ${this.#file} cannot be used: ${(error as Error).message}`;
    }
  }
}
