import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { once } from 'node:events';
import path from 'node:path';

export interface ChildOptions {
  name: string;
  executable: string;
  args: readonly string[];
  /** Besides this process's own. */
  environment?: Readonly<Record<string, string>>;
  /** Output of every run is appended here. */
  logFile: string;
  /** Resolves true once it serves; called again and again until then. */
  ready: () => Promise<boolean>;
  /** Whether it is started again when it ends by itself. */
  restart?: boolean;
  /** Told when it ends without having been asked to. */
  log?: (line: string) => void;
}

const readyWithinMs = 60_000;
const graceMs = 10_000;
const restartAfterMs = 500;

/** A long-running child process that can be started and stopped again and again, and never outlives this process. */
export class Child {
  readonly #options: ChildOptions;
  #process: ChildProcess | undefined;
  /** Whether it ought to run: true from start to stop. */
  #wanted = false;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Resolves once it is ready. Throws with the tail of its log if it ends before, or is not ready within a minute. */
  async start(): Promise<void> {
    const { name, logFile, ready } = this.#options;
    if (this.#wanted) throw new Error(`${name} is running already`);
    this.#wanted = true;
    this.#spawn();
    const deadline = Date.now() + readyWithinMs;
    // One failed probe after another: nothing tells from outside when a server begins to listen.
    for (;;) {
      if (!this.#wanted) throw new Error(`${name} ended before it was ready:\n${await tailOf(logFile)}`);
      if (await ready().catch(() => false)) return;
      if (Date.now() > deadline) {
        await this.stop('SIGKILL');
        throw new Error(`${name} was not ready within ${readyWithinMs / 1000} s:\n${await tailOf(logFile)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Resolves once it has ended. `SIGKILL` follows `SIGTERM` after ten seconds. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#restart);
    const child = this.#process;
    if (!child) return;
    const ended = once(child, 'close');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await ended;
    clearTimeout(timer);
  }

  logTail(lines = 40): Promise<string> {
    return tailOf(this.#options.logFile, lines);
  }

  #spawn(): void {
    const { name, executable, args, environment, logFile, restart, log: tell } = this.#options;
    const log = openSync(logFile, 'a');
    const [command, ...prefix] = dieWithParent();
    // A session of its own: Ctrl-C in a terminal reaches this process only, which then stops its children in order.
    const child = spawn(command ?? executable, command ? [...prefix, executable, ...args] : args, { stdio: ['ignore', log, log], detached: true, env: { ...process.env, ...environment } });
    closeSync(log);
    this.#process = child;
    killAtExit(child);
    const ended = (reason: string): void => {
      alive.delete(child);
      if (this.#process !== child) return;
      this.#process = undefined;
      if (!this.#wanted) return;
      tell?.(`${name} ended by itself (${reason})${restart ? ' and is started again' : ''}; see ${logFile}`);
      if (restart) this.#restart = setTimeout(() => this.#spawn(), restartAfterMs);
      else this.#wanted = false;
    };
    child.once('error', (error) => ended(error.message));
    child.once('close', (code, signal) => ended(signal ?? `exit code ${code}`));
  }
}

const alive = new Set<ChildProcess>();

/** For platforms where the kernel does not do it. One listener for all: Node warns about many. */
const killAtExit = (child: ChildProcess): void => {
  process.off('exit', killAll).once('exit', killAll);
  alive.add(child);
};
const killAll = (): void => alive.forEach((child) => child.kill('SIGKILL'));

/** Where the platform has it, the kernel ends the child when this process dies, even by SIGKILL. */
const dieWithParent = (): string[] => {
  if (process.platform !== 'linux') return [];
  const setpriv = (process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, 'setpriv')).find(isExecutable);
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The last lines of a file that may be large. */
const tailOf = async (file: string, lines = 40): Promise<string> => {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 64 * 1024);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString().trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    await handle.close();
  }
};
