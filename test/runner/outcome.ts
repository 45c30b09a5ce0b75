import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

export interface Failure {
  title: string;
  error: unknown;
}

/** What a run has come to so far. */
export class Outcome {
  passed = 0;
  skipped = 0;
  readonly failures: Failure[] = [];
  /** Tests that a failed hook kept from running. */
  readonly hidden: string[] = [];
  /** What runs right now, for whoever has to say so when it never ends; empty once the run is over. */
  running = 'loading test files';

  fail(title: string, error: unknown): void {
    this.failures.push({ title, error });
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
    this.failures.forEach(({ title, error }, index) => lines.push('', `${index + 1}) ${title}`, indent(describeError(error))));
    if (this.hidden.length > 0) lines.push('', 'did not run, because a hook failed:', ...this.hidden.map((title) => `   ${title}`));
    return lines.length > 0 ? `${lines.join('\n')}\n` : '';
  }
}

/** The error with its causes, without the frames of Node and mocha. */
export const describeError = (error: unknown): string => {
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
