import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { moduleDirectory } from '../go/module.ts';

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
  const directory = path.join(await moduleDirectory(module, import.meta.dirname), folder);
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')));
  // The folders also hold an admission policy and its binding.
  const documents = texts.flatMap((text) => text.split(/^---\s*$/m)).filter((text) => /^kind: CustomResourceDefinition$/m.test(text));
  if (documents.length === 0) throw new Error(`${directory} holds no CustomResourceDefinition`);
  return documents;
};
