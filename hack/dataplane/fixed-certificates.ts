import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Where Envoy Gateway reads the certificates of its xDS server from; no flag names another place. */
export const fixedFolder = '/certs';

/** Tells a folder that a killed run has left from one that somebody needs. */
const marker = '.made-for-tests-of-tenant-apiserver';

const exists = (file: string): Promise<boolean> => access(file).then(() => true, () => false);

/**
 * Puts files, by name, into a folder at a fixed path, and what was there aside.
 * @returns what puts everything back; what a killed run has left is put back by the next
 */
export const occupy = async (folder: string, files: Readonly<Record<string, string>>): Promise<() => Promise<void>> => {
  const aside = `${folder}.put-aside-for-tests`;
  const putBack = async (): Promise<void> => {
    if (await exists(path.join(folder, marker))) await rm(folder, { recursive: true });
    if (await exists(aside)) await rename(aside, folder);
  };
  await putBack();
  if (await exists(folder)) await rename(folder, aside);
  await mkdir(folder);
  await writeFile(path.join(folder, marker), '');
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(path.join(folder, name), text, { mode: 0o600 })));
  return putBack;
};
