import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

/** What happens to an outcome, in a form that a lane's process can tell the runner. Tests are named by file and title. */
export type OutcomeEvent =
  | { event: 'planned'; tests: string[] }
  | { event: 'running'; what: string }
  | { event: 'passed' | 'skipped' | 'hidden'; test: string }
  | { event: 'failed'; title: string; text: string }
  | { event: 'file over' }
  | { event: 'closed' };

/** What a run has come to so far. */
export class Outcome {
  planned = 0;
  passed = 0;
  skipped = 0;
  readonly failures: { title: string; text: string }[] = [];
  /** Tests that a failed hook, or the end of their process, kept from running. */
  readonly hidden: string[] = [];
  readonly #tell: (event: OutcomeEvent) => void;
  #running = 'loading test files';
  #closed = false;

  /** `tell` learns of everything that counts, when it happens. */
  constructor(tell: (event: OutcomeEvent) => void = () => {}) {
    this.#tell = tell;
  }

  /** What runs right now, for whoever has to say so when it never ends; empty once the run is over. */
  get running(): string {
    return this.#running;
  }

  set running(what: string) {
    if (this.#closed) return;
    this.#running = what;
    this.#tell({ event: 'running', what });
  }

  plan(tests: string[]): void {
    this.planned += tests.length;
    this.#tell({ event: 'planned', tests });
  }

  pass(test: string): void {
    if (this.#closed) return;
    this.passed += 1;
    this.#tell({ event: 'passed', test });
  }

  skip(test: string): void {
    if (this.#closed) return;
    this.skipped += 1;
    this.#tell({ event: 'skipped', test });
  }

  hide(test: string): void {
    if (this.#closed) return;
    this.hidden.push(test);
    this.#tell({ event: 'hidden', test });
  }

  fail(title: string, error: unknown): void {
    this.failAs(title, describeError(error));
  }

  failAs(title: string, text: string): void {
    if (this.#closed) return;
    this.failures.push({ title, text });
    this.#tell({ event: 'failed', title, text });
  }

  /** The last test of a file is over, and its line printed. */
  fileOver(): void {
    this.#tell({ event: 'file over' });
  }

  /** Nothing counts any more. */
  close(): void {
    if (this.#closed) return;
    this.running = '';
    this.#closed = true;
    this.#tell({ event: 'closed' });
  }

  get failed(): number {
    return this.failures.length + this.hidden.length;
  }

  /** The line that ends every run. */
  get closingLine(): string {
    return `${this.passed} passed, ${this.failed} failed${this.skipped > 0 ? `, ${this.skipped} skipped` : ''}`;
  }

  details(): string {
    const lines: string[] = [];
    this.failures.forEach(({ title, text }, index) => lines.push('', `${index + 1}) ${title}`, indent(text)));
    if (this.hidden.length > 0) lines.push('', 'did not run, because a hook failed or their process ended:', ...this.hidden.map((title) => `   ${title}`));
    return lines.length > 0 ? `${lines.join('\n')}\n` : '';
  }
}

/** The error with its causes, without the frames of Node and mocha. */
const describeError = (error: unknown): string => {
  const text = error instanceof Error ? inspect(withoutNoise(error), { depth: 4, breakLength: 120 }) : `thrown: ${inspect(error)}`;
  return text.split('\n').filter((line) => !/^\s+at .*(node:internal|node_modules\/mocha\/)/.test(line)).join('\n');
};

const withoutNoise = (error: Error): Error => {
  // An AssertionError's message already shows both values; printing them a second time as properties buries it.
  if (error.name !== 'AssertionError') return error;
  const short = new Error(error.message);
  short.stack = error.stack;
  return short;
};

const indent = (text: string): string => text.split('\n').map((line) => `   ${line}`).join('\n');

/** Writes to stdout at once, also while the process is ending. */
export const print = (text: string): void => {
  let rest = Buffer.from(`${text}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
};
