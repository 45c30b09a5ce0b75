import { execFile, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { cached } from '../../hack/cached.ts';
import { compile } from '../../hack/go/compile.ts';

const run = promisify(execFile);
const moduleFolder = path.join(import.meta.dirname, 'go');

/**
 * The path of an executable with all tests of the Go module beside this file, built if its sources have changed.
 * Throws when Go is missing and when the build fails.
 */
export const goClients = async (log: (line: string) => void = () => {}): Promise<string> => {
  const names = (await readdir(moduleFolder)).sort();
  const content = await Promise.all(names.map(async (name) => [name, await readFile(path.join(moduleFolder, name), 'utf8')]));
  const make = async (folder: string): Promise<void> => {
    log('building the Go clients: client-go, controller-runtime, Helm (once; about 2 minutes on 2 cores where Kubernetes was built before)');
    // `go test` would not tell what it compiles.
    await compile({ moduleFolder, args: ['.'], log });
    await run('go', ['test', '-c', '-o', path.join(folder, 'clients.test'), '.'], { cwd: moduleFolder }).catch((error: { stdout?: string; stderr?: string }) => {
      throw new Error(`go test -c failed:\n${error.stderr}${error.stdout}`, { cause: error });
    });
    log('the Go clients are built');
  };
  return cached({ name: 'clients', content, file: 'clients.test', make });
};

/** The names of all Go tests. */
export const goTestNames = async (): Promise<string[]> => {
  const { stdout } = await run(await goClients(), ['-test.list', '.*']);
  return stdout.trim().split('\n');
};

export interface GoTestOptions {
  kubeconfig: string;
  namespace: string;
  twinDomain?: string;
  /** Whether reflectors begin with a watch that streams the list, which is client-go's default. */
  watchList?: boolean;
  /** Called for each line; what it returns is sent to the test's standard input. */
  answer?: (line: string) => Promise<string | undefined>;
}

const withinMs = 240_000;

/** Runs one Go test. Throws with all that it said if it fails. @returns what it logged */
export const goTest = async (name: string, { kubeconfig, namespace, twinDomain = '', watchList = true, answer }: GoTestOptions): Promise<string[]> => {
  const args = [`-test.run=^${name}$`, '-test.v', `-test.timeout=${withinMs}ms`, `-namespace=${namespace}`, `-twin-domain=${twinDomain}`];
  const child = spawn(await goClients(), args, { env: { ...process.env, KUBECONFIG: kubeconfig, KUBE_FEATURE_WatchListClient: String(watchList) }, timeout: withinMs + 10_000, killSignal: 'SIGKILL' });
  const killed = (): void => void child.kill('SIGKILL');
  process.once('exit', killed);
  const lines: string[] = [];
  const answers: Promise<void>[] = [];
  child.stdin.on('error', () => undefined); // a test that ends early says why on its own
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (answer) answers.push(answer(line).then((text) => void (text !== undefined && child.stdin.write(text)), () => void child.kill('SIGKILL')));
    });
  }
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...end) => resolve(end));
  });
  process.off('exit', killed);
  await Promise.all(answers);
  if (code !== 0 || !lines.includes('PASS')) throw new Error(`${name} failed (${signal ?? `exit code ${code}`}):\n${lines.join('\n')}`);
  return lines.flatMap((line) => /^\s+\w+_test\.go:\d+: (.*)$/.exec(line)?.[1] ?? []);
};
