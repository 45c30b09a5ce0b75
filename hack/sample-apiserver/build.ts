import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../cached.ts';
import { compile } from '../go/compile.ts';

/**
 * The path of the sample-apiserver that `go.mod` beside this file names, built on the first call on a machine.
 * Throws when Go is missing and when the build fails.
 */
export const sampleApiserver = async (log: (line: string) => void): Promise<string> => {
  const content = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(path.join(import.meta.dirname, name), 'utf8')));
  const make = async (folder: string): Promise<void> => {
    log('building sample-apiserver from source (once; up to 5 minutes on 2 cores)');
    await compile({ moduleFolder: import.meta.dirname, args: ['-o', path.join(folder, 'sample-apiserver'), 'k8s.io/sample-apiserver'], log });
  };
  return cached({ name: 'sample-apiserver', content, file: 'sample-apiserver', make });
};
