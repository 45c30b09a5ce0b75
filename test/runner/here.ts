import path from 'node:path';
import Mocha from 'mocha';
import { runAtEnd } from '../lifecycle.ts';
import type { RunnerOptions } from './files.ts';
import { type Outcome, print } from './outcome.ts';
import { follow, nameOf, testsOf } from './reporter.ts';
import { startWatchdog } from './watchdog.ts';

/** Test files that run in this process, one after another. */
export class Here {
  readonly #root: string;
  readonly #options: RunnerOptions;
  readonly #outcome: Outcome;
  #runner: Mocha.Runner | undefined;

  constructor(root: string, options: RunnerOptions, outcome: Outcome) {
    this.#root = root;
    this.#options = options;
    this.#outcome = outcome;
  }

  async run(files: readonly string[]): Promise<void> {
    const { isLane, timeoutMs, totalTimeoutMs: limitMs, graceMs } = this.#options;
    const outcome = this.#outcome;
    // A lane's time runs since its process began.
    const watchdog = startWatchdog({ limitMs: isLane ? Math.max(1, limitMs - performance.now()) : limitMs, graceMs, closes: !isLane }, () => {
      outcome.failAs(outcome.running, `the run took longer than ${limitMs / 1000} s, and this was running`);
      outcome.running = '';
      process.exit();
    });
    const seen = new Set<unknown>(); // mocha emits rejections a second time
    const stray = (error: unknown, promise: unknown): void => {
      if (!seen.has(promise)) outcome.fail(`outside of tests, while running ${outcome.running}`, error);
      if (promise instanceof Promise) seen.add(promise);
    };
    process.on('unhandledRejection', stray);
    // While tests run, mocha handles these: it knows which test to blame.
    process.on('uncaughtException', stray);

    const mocha = new Mocha({ timeout: timeoutMs, forbidOnly: true, reporter: Silent, rootHooks: { afterAll: () => runAtEnd(outcome.failed > 0) } });
    if (this.#options.grep !== undefined) mocha.grep(new RegExp(this.#options.grep));
    for (const file of files) await this.#load(mocha, file);
    const planned = testsOf(mocha.suite).filter(this.#matches);
    outcome.plan(planned.map(nameOf));
    if (!isLane) print(`${planned.length} tests in ${files.length} files`);

    process.off('uncaughtException', stray);
    await new Promise<void>((resolve) => {
      this.#runner = mocha.run(() => resolve());
      follow(this.#runner, mocha.suite, outcome, this.#matches);
      this.#runner.on('test', () => watchdog.note({ running: outcome.running, passed: outcome.passed, others: Math.max(1, planned.length - outcome.passed - outcome.skipped) }));
    });
    process.on('uncaughtException', stray);
    await watchdog.stop();
    await reportOpenHandles();
  }

  /** Begins no other test, and stops what the tests share. */
  async stop(): Promise<void> {
    this.#runner?.abort();
    await runAtEnd(false);
  }

  readonly #matches = (test: Mocha.Test): boolean => this.#options.grep === undefined || new RegExp(this.#options.grep).test(test.fullTitle());

  /** A file that cannot be loaded is one failure; what it had registered until then does not run. */
  async #load(mocha: Mocha, file: string): Promise<void> {
    const { suites, tests } = mocha.suite;
    const before = { suites: suites.length, tests: tests.length };
    this.#outcome.running = `loading ${file}`;
    try {
      mocha.files = [path.join(this.#root, file)];
      await mocha.loadFilesAsync();
    } catch (error) {
      suites.length = before.suites;
      tests.length = before.tests;
      print(`FAIL ${file}: cannot be loaded`);
      this.#outcome.fail(`${file}: cannot be loaded`, error);
    }
  }
}

/** `follow` reports instead: mocha's own reporters know nothing of files and hidden tests. */
class Silent extends Mocha.reporters.Base {
  override epilogue(): void {}
}

const reportOpenHandles = async (): Promise<void> => {
  // Closed handles leave the list one turn later.
  await new Promise((resolve) => setImmediate(resolve));
  const open = process.getActiveResourcesInfo().filter((name) => !['TTYWrap', 'PipeWrap', 'SignalWrap', 'Immediate', 'CloseReq'].includes(name));
  if (open.length > 0) print(`note: still open when all tests were over: ${open.join(', ')}`);
};
