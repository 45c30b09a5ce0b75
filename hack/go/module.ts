import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The folder of a Go module, at the version that the `go.mod` in `moduleFolder` requires. The first call on a machine downloads it
 * into Go's module cache. Throws when Go is missing or cannot download.
 */
export const moduleDirectory = async (module: string, moduleFolder: string): Promise<string> => {
  const failed = (error: { code?: unknown; stdout?: string; stderr?: string }): never => {
    throw new Error(error.code === 'ENOENT'
      ? `the CustomResourceDefinitions of ${module} come with its Go module, and go is not on PATH: install Go (https://go.dev/dl/)`
      : `go mod download ${module} failed: ${errorOf(error.stdout) ?? error.stderr}`, { cause: error });
  };
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: moduleFolder }).catch(failed);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
};

/** With -json, go reports what went wrong in its output. */
const errorOf = (stdout = ''): string | undefined => {
  try {
    return (JSON.parse(stdout) as { Error?: string }).Error;
  } catch {
    return undefined;
  }
};
