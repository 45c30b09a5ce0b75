import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The sets of CustomResourceDefinitions, by the folder of a Go module that holds each; `go.mod` beside this file has the versions. */
const sets = {
  'gateway-api': { module: 'sigs.k8s.io/gateway-api', folder: 'config/crd/standard' },
  /** The same with what is not stable yet: further fields, and versions that the standard channel no longer serves. */
  'gateway-api-experimental': { module: 'sigs.k8s.io/gateway-api', folder: 'config/crd/experimental' },
  'cert-manager': { module: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds' },
} as const;
export type CrdSet = keyof typeof sets;
/** Those that the product works with. */
export const crdSets: readonly CrdSet[] = ['gateway-api', 'cert-manager'];

/**
 * The YAML documents of a set, each one CustomResourceDefinition. The first call on a machine downloads the module into
 * Go's module cache. Throws when Go is missing or cannot download.
 */
export const crdDocuments = async (set: CrdSet): Promise<string[]> => {
  const { module, folder } = sets[set];
  const directory = path.join(await moduleDirectory(module), folder);
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')));
  // The folders also hold an admission policy and its binding.
  const documents = texts.flatMap((text) => text.split(/^---\s*$/m)).filter((text) => /^kind: CustomResourceDefinition$/m.test(text));
  if (documents.length === 0) throw new Error(`${directory} holds no CustomResourceDefinition`);
  return documents;
};

const moduleDirectory = async (module: string): Promise<string> => {
  const failed = (error: { code?: unknown; stdout?: string; stderr?: string }): never => {
    throw new Error(error.code === 'ENOENT'
      ? `the CustomResourceDefinitions of ${module} come with its Go module, and go is not on PATH: install Go (https://go.dev/dl/)`
      : `go mod download ${module} failed: ${errorOf(error.stdout) ?? error.stderr}`, { cause: error });
  };
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: import.meta.dirname }).catch(failed);
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
