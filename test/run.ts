import path from 'node:path';
import Mocha from 'mocha';
import { runAtEnd } from './lifecycle.ts';
import { prepare } from './prepare.ts';
import { findTestFiles, parseRunnerOptions, type RunnerOptions } from './runner/files.ts';
import { Outcome, print } from './runner/outcome.ts';
import { follow, testsOf } from './runner/reporter.ts';
import { startWatchdog } from './runner/watchdog.ts';

const root = path.dirname(import.meta.dirname);

const main = async (outcome: Outcome): Promise<void> => {
  const options = parseRunnerOptions(process.argv.slice(2));
  const files = await findTestFiles(root, options);
  outcome.running = 'preparing the control plane';
  await prepare(files, print).catch((error: unknown) => outcome.fail(outcome.running, error));
  const watchdog = startWatchdog(options.totalTimeoutMs, options.graceMs, () => {
    outcome.fail(outcome.running, new Error(`the run took longer than ${options.totalTimeoutMs / 1000} s, and this was running`));
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

  const mocha = new Mocha({ timeout: options.timeoutMs, forbidOnly: true, reporter: Silent, rootHooks: { afterAll: () => runAtEnd(outcome.failed > 0) } });
  if (options.grep !== undefined) mocha.grep(new RegExp(options.grep));
  for (const file of files) await load(mocha, file, outcome);
  const planned = testsOf(mocha.suite).filter(matches(options));
  if (planned.length === 0 && outcome.failed === 0) outcome.fail('nothing to run', new Error(`no test matches ${process.argv.slice(2).join(' ') || 'the project\'s patterns'}`));
  print(`${planned.length} tests in ${files.length} files`);

  process.off('uncaughtException', stray);
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    follow(runner, mocha.suite, outcome, matches(options));
    runner.on('test', () => watchdog.note({ running: outcome.running, passed: outcome.passed, others: Math.max(1, planned.length - outcome.passed - outcome.skipped) }));
  });
  process.on('uncaughtException', stray);
  await watchdog.stop();
  await reportOpenHandles();
};

/** `follow` reports instead: mocha's own reporters know nothing of files and hidden tests. */
class Silent extends Mocha.reporters.Base {
  override epilogue(): void {}
}

const matches = ({ grep }: RunnerOptions) => (test: Mocha.Test): boolean => grep === undefined || new RegExp(grep).test(test.fullTitle());

/** A file that cannot be loaded is one failure; what it had registered until then does not run. */
const load = async (mocha: Mocha, file: string, outcome: Outcome): Promise<void> => {
  const { suites, tests } = mocha.suite;
  const before = { suites: suites.length, tests: tests.length };
  outcome.running = `loading ${file}`;
  const absolute = path.join(root, file);
  try {
    mocha.files = [absolute];
    await mocha.loadFilesAsync();
  } catch (error) {
    suites.length = before.suites;
    tests.length = before.tests;
    print(`FAIL ${file}: cannot be loaded`);
    outcome.fail(`${file}: cannot be loaded`, error);
  }
};

/** However the process ends, the details and the closing line are the last things that it prints. */
const closeHonestly = (outcome: Outcome): void => {
  let finished = false;
  process.once('beforeExit', () => {
    outcome.fail(outcome.running, new Error('the event loop ran empty, and this never settled'));
    outcome.running = '';
    process.exit();
  });
  process.once('exit', () => {
    if (finished) return;
    finished = true;
    if (outcome.running !== '') outcome.fail(outcome.running, new Error('the process was ended while this ran'));
    print(outcome.details());
    print(outcome.closingLine);
    process.exitCode = outcome.failed > 0 ? 1 : 0;
  });
};

const reportOpenHandles = async (): Promise<void> => {
  // Closed handles leave the list one turn later.
  await new Promise((resolve) => setImmediate(resolve));
  const open = process.getActiveResourcesInfo().filter((name) => !['TTYWrap', 'PipeWrap', 'Immediate', 'CloseReq'].includes(name));
  if (open.length > 0) print(`note: still open when all tests were over: ${open.join(', ')}`);
};

const outcome = new Outcome();
closeHonestly(outcome);
try {
  await main(outcome);
} catch (error) {
  outcome.fail('the test runner', error);
}
outcome.running = '';
process.exit();
