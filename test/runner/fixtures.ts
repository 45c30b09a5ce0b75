import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const root = path.dirname(path.dirname(import.meta.dirname));

export interface FixturesRun {
  code: number | null;
  signal: string | null;
  output: string;
  /** The last line. */
  closing: string | undefined;
}

/** A run of the test runner on files of `test/runner-fixtures`. */
export const fixturesRun = (fixtures: readonly string[], args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): { pid: number; output: () => string; over: Promise<FixturesRun> } => {
  const files = fixtures.flatMap((name) => ['--files', `test/runner-fixtures/${name}.ts`]);
  const child = spawn(process.execPath, ['test/run.ts', ...files, ...args], { cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  const output = (): string => Buffer.concat(chunks).toString();
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.resume();
  const over = once(child, 'close').then(([code, signal]: (number | string | null)[]) => ({
    code: code as number | null, signal: signal as string | null, output: output(), closing: output().trimEnd().split('\n').at(-1),
  }));
  return { pid: child.pid!, output, over };
};

export const runFixtures = (fixtures: readonly string[], args: readonly string[] = []): Promise<FixturesRun> => fixturesRun(fixtures, args).over;
