import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../cached.ts';

const run = promisify(execFile);
const goPackage = 'k8s.io/sample-apiserver';
const buildWithinMs = 30 * 60_000;

/**
 * The path of the sample-apiserver that `go.mod` beside this file names, built on the first call on a machine.
 * Throws when Go is missing and when the build fails.
 */
export const sampleApiserver = async (log: (line: string) => void): Promise<string> => {
  const content = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(path.join(import.meta.dirname, name), 'utf8')));
  const make = async (folder: string): Promise<void> => {
    log('building sample-apiserver from source (once; up to 5 minutes on 2 cores)');
    await run('go', ['build', '-o', path.join(folder, 'sample-apiserver'), goPackage], { cwd: import.meta.dirname, timeout: buildWithinMs }).catch(failed);
  };
  return cached({ name: 'sample-apiserver', content, file: 'sample-apiserver', make });
};

const failed = (error: { code?: unknown; stderr?: string }): never => {
  throw new Error(error.code === 'ENOENT'
    ? 'sample-apiserver is built with Go, which is not on PATH: install Go (https://go.dev/dl/)'
    : `go build ${goPackage} failed:\n${error.stderr}`, { cause: error });
};
