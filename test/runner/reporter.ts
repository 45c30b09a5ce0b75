import Mocha from 'mocha';
import { type Outcome, print } from './outcome.ts';

interface FileProgress {
  total: number;
  done: number;
  failed: number;
  skipped: number;
  began: number;
}

/** Follows a mocha run: a line for each file when its last test is over, and the outcome of each test. */
export const follow = (runner: Mocha.Runner, suite: Mocha.Suite, outcome: Outcome, runs: (test: Mocha.Test) => boolean): void => {
  const settled = new Set<Mocha.Test>();
  const progress = new Map<string, FileProgress>();
  for (const test of testsOf(suite)) {
    if (!runs(test)) continue;
    const file = progress.get(fileOf(test)) ?? { total: 0, done: 0, failed: 0, skipped: 0, began: 0 };
    file.total += 1;
    progress.set(fileOf(test), file);
  }

  const fileLine = (name: string, file: FileProgress): void => {
    const counts = [`${file.done - file.failed - file.skipped} passed`, ...(file.failed ? [`${file.failed} FAILED`] : []), ...(file.skipped ? [`${file.skipped} skipped`] : [])];
    print(`${file.failed ? 'FAIL' : 'ok  '} ${name}: ${counts.join(', ')} (${((performance.now() - file.began) / 1000).toFixed(1)} s)`);
  };
  const settle = (test: Mocha.Test, kind: 'passed' | 'failed' | 'skipped'): void => {
    if (settled.has(test)) return;
    settled.add(test);
    const file = progress.get(fileOf(test));
    if (!file) return;
    file.began ||= performance.now();
    file.done += 1;
    if (kind !== 'passed') file[kind] += 1;
    if (file.done !== file.total) return;
    fileLine(fileOf(test), file);
    outcome.fileOver();
  };
  const starts = (item: Mocha.Runnable): void => {
    outcome.running = nameOf(item);
    const file = progress.get(fileOf(item));
    if (file) file.began ||= performance.now();
  };

  runner.on('test', starts);
  runner.on('hook', starts);
  runner.on('pass', (test) => {
    outcome.pass(nameOf(test));
    settle(test, 'passed');
  });
  runner.on('pending', (test) => {
    outcome.skip(nameOf(test));
    settle(test, 'skipped');
  });
  runner.on('fail', (item: Mocha.Runnable, error: unknown) => {
    const title = nameOf(item);
    print(`  failed: ${title}`);
    outcome.fail(title, error);
    if (item instanceof Mocha.Test) settle(item, 'failed');
  });
  runner.once('end', () => {
    outcome.running = 'closing';
    for (const test of testsOf(suite)) {
      if (!runs(test) || settled.has(test)) continue;
      outcome.hide(nameOf(test));
      settle(test, 'failed');
    }
  });
};

export const testsOf = (suite: Mocha.Suite): Mocha.Test[] => [...suite.tests, ...suite.suites.flatMap(testsOf)];

/** By this a runnable goes in all that is reported. */
export const nameOf = (item: Mocha.Runnable): string => `${fileOf(item)}: ${titleOf(item)}`;

const titleOf = (item: Mocha.Runnable): string => item.titlePath().filter(Boolean).join(' › ');
const fileOf = (item: Mocha.Runnable): string => {
  const file = item.file ?? fileOfSuite(item.parent);
  return file === undefined ? '(all files)' : file.replace(`${process.cwd()}/`, '');
};
const fileOfSuite = (suite: Mocha.Suite | undefined): string | undefined => suite && (suite.file ?? fileOfSuite(suite.parent));
