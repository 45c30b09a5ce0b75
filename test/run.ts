import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepare } from './prepare.ts';
import { findTestFiles, parseRunnerOptions, type RunnerOptions } from './runner/files.ts';
import { Here } from './runner/here.ts';
import { isForLanes, jobsOf } from './runner/jobs.ts';
import { eventLine } from './runner/lane-events.ts';
import { Lanes } from './runner/lanes.ts';
import { Outcome, print } from './runner/outcome.ts';

const root = path.dirname(import.meta.dirname);
const args = process.argv.slice(2);

/** Whoever runs tests right now. */
let current: { stop(): Promise<void> } | undefined;
/** Set when the run is ended from outside. */
let ending: Promise<void> | undefined;

const main = async (outcome: Outcome): Promise<void> => {
  const options = parseRunnerOptions(args);
  endWhenTold(outcome, options);
  const files = await findTestFiles(root, options);
  if (!options.isLane) {
    outcome.running = 'preparing the control plane';
    await prepare(files, print).catch((error: unknown) => outcome.fail(outcome.running, error));
  }
  const began = performance.now();
  const jobs = options.isLane || options.lanes === 1 ? [] : await jobsOf(root, files.filter(isForLanes));
  const forLanes = jobs.length > 1 ? jobs : [];
  const forHere = forLanes.length > 0 ? files.filter((file) => !isForLanes(file)) : files;

  if (forHere.length > 0) {
    const here = new Here(root, options, outcome);
    current = here;
    await here.run(forHere);
  }
  if (forLanes.length > 0 && !ending) {
    const lanes = new Lanes(root, options, outcome, forLanes);
    current = lanes;
    await lanes.run(Math.max(1, options.totalTimeoutMs - (performance.now() - began)));
  }
  if (outcome.planned === 0 && outcome.failed === 0 && !options.isLane) outcome.fail('nothing to run', new Error(`no test matches ${args.join(' ') || 'the project\'s patterns'}`));
};

/** On Ctrl-C and the like: what runs has failed, and what it started is stopped. */
const endWhenTold = (outcome: Outcome, { graceMs, isLane }: RunnerOptions): void => {
  const end = (why: string, exit: () => void = () => process.exit()): void => {
    // In a terminal, npm passes on what this process got already.
    ending ??= (async () => {
      const stopped = current?.stop();
      if (!(current instanceof Lanes)) {
        outcome.failAs(outcome.running, `the run was ended by ${why}, and this was running`);
        outcome.close();
      }
      await Promise.race([stopped?.catch(() => {}), sleep(current instanceof Lanes ? 3 * graceMs : graceMs)]);
      exit();
    })();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal));
  // Without the runner, nobody else ends what the tests of a lane started.
  if (isLane) process.once('disconnect', () => end('the end of the runner', () => process.kill(-process.pid, 'SIGKILL')));
  process.channel?.unref();
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
    outcome.close();
    if (!isLane) {
      print(outcome.details());
      print(outcome.closingLine);
    }
    process.exitCode = outcome.failed > 0 ? 1 : 0;
  });
};

const isLane = args.includes('--is-lane');
const outcome = new Outcome(isLane ? (event) => print(eventLine(event)) : undefined);
closeHonestly(outcome);
try {
  await main(outcome);
} catch (error) {
  outcome.fail('the test runner', error);
}
await ending;
outcome.running = '';
process.exit();
