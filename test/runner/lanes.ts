import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { RunnerOptions } from './files.ts';
import type { Job } from './jobs.ts';
import { readLine } from './lane-events.ts';
import { type Outcome, type OutcomeEvent, print } from './outcome.ts';
import { startWatchdog } from './watchdog.ts';

/** Jobs that run side by side, each in a process of its own, so many at a time as there are lanes. */
export class Lanes {
  readonly #root: string;
  readonly #options: RunnerOptions;
  readonly #outcome: Outcome;
  readonly #waiting: Job[];
  readonly #running = new Set<Lane>();

  constructor(root: string, options: RunnerOptions, outcome: Outcome, jobs: readonly Job[]) {
    this.#root = root;
    this.#options = options;
    this.#outcome = outcome;
    this.#waiting = [...jobs];
  }

  /** `limitMs` is what is left for the whole run. A lane ends itself by then; this is for those that cannot. */
  async run(limitMs: number): Promise<void> {
    const { graceMs, lanes } = this.#options;
    const outcome = this.#outcome;
    const deadline = performance.now() + limitMs;
    const count = Math.min(lanes, this.#waiting.length);
    print(`${this.#waiting.flatMap(({ files }) => files).length} files in ${count} lanes`);
    outcome.running = 'the lanes';
    const killAll = (): void => this.#running.forEach((lane) => lane.kill());
    process.on('exit', killAll);
    const watchdog = startWatchdog({ limitMs: limitMs + 2 * graceMs, graceMs }, () => {
      this.#abandon(`the run took longer than ${this.#options.totalTimeoutMs / 1000} s`);
      process.exit();
    });
    const work = async (): Promise<void> => {
      for (let job = this.#waiting.shift(); job; job = this.#waiting.shift()) {
        const lane = new Lane(job, this.#argumentsFor(job, Math.max(1, Math.round(deadline - performance.now()))), outcome);
        this.#running.add(lane);
        await lane.over;
        this.#running.delete(lane);
        watchdog.note({ running: 'the lanes', passed: outcome.passed, others: Math.max(1, outcome.planned - outcome.passed - outcome.skipped) });
      }
    };
    await Promise.all(Array.from({ length: count }, work));
    process.off('exit', killAll);
    await watchdog.stop();
  }

  /** Has every lane end itself in order, and kills those that do not; what has not run by then has failed. */
  async stop(): Promise<void> {
    for (const lane of this.#running) lane.end();
    const ended = Promise.all([...this.#running].map(({ over }) => over));
    this.#dropWaiting('the run was ended before');
    await Promise.race([ended, sleep(2 * this.#options.graceMs)]);
    this.#abandon('it did not end when it was told to');
  }

  #abandon(why: string): void {
    for (const lane of this.#running) lane.abandon(why);
    this.#dropWaiting(why);
    this.#outcome.running = '';
  }

  #dropWaiting(why: string): void {
    for (const { files } of this.#waiting.splice(0)) for (const file of files) this.#outcome.failAs(`${file}: did not run`, why);
  }

  #argumentsFor({ files }: Job, limitMs: number): string[] {
    const { grep, timeoutMs, graceMs } = this.#options;
    return [
      path.join(this.#root, 'test/run.ts'), '--is-lane', ...files.flatMap((file) => ['--files', file]), ...(grep === undefined ? [] : ['--grep', grep]),
      '--timeout', String(timeoutMs), '--total-timeout', String(limitMs), '--grace', String(graceMs),
    ];
  }
}

/** The process of one job. */
class Lane {
  /** Resolves once it has ended, and all that it came to is counted. */
  readonly over: Promise<void>;
  readonly #job: Job;
  readonly #outcome: Outcome;
  readonly #child: ChildProcess;
  /** How many of each name are still to come. */
  readonly #pending = new Map<string, number>();
  #what: string;
  #failures = 0;
  #closed = false;
  #settled = false;
  /** What it printed since the last file was over. */
  #block: string[] = [];

  constructor(job: Job, args: readonly string[], outcome: Outcome) {
    this.#job = job;
    this.#outcome = outcome;
    this.#what = `starting the process for ${job.files.join(', ')}`;
    // A process group of its own, to kill with all that its tests started. It ends itself when the channel breaks.
    this.#child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    const rests = [this.#child.stdout!, this.#child.stderr!].map((stream) => eachLine(stream, (line) => this.#take(line)));
    this.over = new Promise((resolve) => {
      let how = '';
      const finish = (): void => {
        rests.forEach((rest) => rest());
        this.#finish(how);
        resolve();
      };
      this.#child.once('error', (error) => {
        how = `could not be started (${error.message})`;
        finish();
      });
      this.#child.once('exit', (code, signal) => {
        how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
        this.kill();
        setTimeout(finish, 2000).unref(); // something outside of the group may hold its output open
      });
      this.#child.once('close', finish);
    });
  }

  /** Tells it to end. */
  end(): void {
    this.#child.kill('SIGTERM');
  }

  /** Kills it with all that it started. */
  kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // nothing is left of it
    }
  }

  /** Kills it; whatever ran and was to run has failed. */
  abandon(why: string): void {
    this.kill();
    this.#finish(`was killed (${why})`);
  }

  #take(line: string): void {
    const { text, event } = readLine(line);
    if (text !== undefined) this.#block.push(text);
    if (event && !this.#settled) this.#count(event);
  }

  #count(event: OutcomeEvent): void {
    switch (event.event) {
      case 'planned':
        this.#outcome.plan(event.tests);
        for (const test of event.tests) this.#pending.set(test, (this.#pending.get(test) ?? 0) + 1);
        return;
      case 'running':
        if (event.what !== '') this.#what = event.what;
        return;
      case 'passed':
        this.#outcome.pass(event.test);
        return this.#settle(event.test);
      case 'skipped':
        this.#outcome.skip(event.test);
        return this.#settle(event.test);
      case 'hidden':
        this.#failures += 1;
        this.#outcome.hide(event.test);
        return this.#settle(event.test);
      case 'failed':
        this.#failures += 1;
        this.#outcome.failAs(event.title, event.text);
        return this.#settle(event.title);
      case 'file over':
        return this.#flush();
      case 'closed':
        this.#closed = true;
    }
  }

  #settle(test: string): void {
    const left = (this.#pending.get(test) ?? 0) - 1;
    if (left > 0) this.#pending.set(test, left);
    else this.#pending.delete(test);
  }

  #flush(): void {
    if (this.#block.length > 0) print(this.#block.join('\n'));
    this.#block = [];
  }

  #finish(how: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#flush();
    const { files } = this.#job;
    if (!this.#closed) {
      this.#outcome.failAs(this.#what, `its process ${how} while this ran`);
      this.#settle(this.#what);
    } else if (how !== `ended with exit code ${this.#failures > 0 ? 1 : 0}`) {
      this.#outcome.failAs(`closing the process of ${files.join(', ')}`, `it ${how} after ${this.#failures} failures`);
    }
    for (const [test, times] of this.#pending) for (let left = times; left > 0; left -= 1) this.#outcome.hide(test);
  }
}

/** @returns what is to be called at the end, for a last line that has none */
const eachLine = (stream: Readable, take: (line: string) => void): (() => void) => {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    lines.forEach(take);
  });
  return () => {
    if (rest !== '') take(rest);
    rest = '';
  };
};
