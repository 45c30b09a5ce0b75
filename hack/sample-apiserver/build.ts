import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const goPackage = 'k8s.io/sample-apiserver';
const buildWithinMs = 30 * 60_000;

/**
 * The path of the sample-apiserver that `go.mod` beside this file names, built on the first call on a machine.
 * Throws when Go is missing and when the build fails.
 */
export const sampleApiserver = async (log: (line: string) => void): Promise<string> => {
  const folder = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'tenant-apiserver', 'sample-apiserver', await cacheKey());
  const executable = path.join(folder, 'sample-apiserver');
  if (await access(executable).then(() => true, () => false)) return executable;
  log('building sample-apiserver from source (once; up to 5 minutes on 2 cores)');
  await mkdir(folder, { recursive: true });
  const building = await mkdtemp(path.join(folder, '.build-'));
  try {
    const built = path.join(building, 'sample-apiserver');
    await run('go', ['build', '-o', built, goPackage], { cwd: import.meta.dirname, timeout: buildWithinMs }).catch(failed);
    await rename(built, executable); // only a whole one is ever found there
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return executable;
};

const cacheKey = async (): Promise<string> => {
  const files = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(path.join(import.meta.dirname, name), 'utf8')));
  return createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
};

const failed = (error: { code?: unknown; stderr?: string }): never => {
  throw new Error(error.code === 'ENOENT'
    ? 'sample-apiserver is built with Go, which is not on PATH: install Go (https://go.dev/dl/)'
    : `go build ${goPackage} failed:\n${error.stderr}`, { cause: error });
};
