import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Compilation {
  /** The folder of its `go.mod`. */
  moduleFolder: string;
  /** What follows `go build -v`. */
  args: readonly string[];
  /** process.env if left out. */
  environment?: NodeJS.ProcessEnv;
  /** Receives a line every 30 s. */
  log: (line: string) => void;
}

const heartbeatMs = 30_000;
const buildWithinMs = 60 * 60_000;

/** Runs `go build`, which may take minutes. Throws when Go is missing, and with the tail of what Go said if it fails. */
export const compile = async ({ moduleFolder, args, environment = process.env, log }: Compilation): Promise<void> => {
  const began = Date.now();
  const elapsed = (): string => `${Math.round((Date.now() - began) / 1000)} s`;
  let compiled = 0;
  let latest = '';
  const tail: string[] = [];
  const heartbeat = setInterval(() => {
    log(`still building after ${elapsed()}: ${compiled} packages compiled${latest && `, last ${latest}`}`);
  }, heartbeatMs);
  const go = spawn('go', ['build', '-v', ...args], { cwd: moduleFolder, env: environment, stdio: ['ignore', 'ignore', 'pipe'], timeout: buildWithinMs });
  const killed = (): void => void go.kill();
  process.once('exit', killed);
  createInterface({ input: go.stderr }).on('line', (line) => {
    // With -v, go prints the path of each package that it compiles.
    if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) {
      compiled += 1;
      latest = line;
    } else {
      tail.push(line);
      if (tail.length > 40) tail.shift();
    }
  });
  try {
    const [code, signal] = (await once(go, 'close').catch(notStarted)) as [number | null, string | null];
    if (code !== 0) throw new Error(`go build failed (${signal ?? `exit code ${code}`}) after ${elapsed()}:\n${tail.join('\n')}`);
  } finally {
    process.off('exit', killed);
    clearInterval(heartbeat);
  }
};

const notStarted = (error: { code?: unknown }): never => {
  throw error.code === 'ENOENT' ? new Error('building needs Go, which is not on PATH: install Go (https://go.dev/dl/)', { cause: error }) : error;
};
