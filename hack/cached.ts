import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

export interface Cached {
  /** Folder in the cache, for what is made in the same way. */
  name: string;
  /** All that it is made from: another content makes another. */
  content: unknown;
  /** What `make` leaves in the folder that it is given. */
  file: string;
  make: (folder: string) => Promise<void>;
}

/**
 * The path of a file that takes long to make: as found in the user's cache, outside of the clone, or made now. Only a whole
 * one is ever found there.
 */
export const cached = async ({ name, content, file, make }: Cached): Promise<string> => {
  const key = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
  const folder = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'tenant-apiserver', name, key);
  const found = path.join(folder, file);
  if (await access(found).then(() => true, () => false)) return found;
  await mkdir(folder, { recursive: true });
  const making = await mkdtemp(path.join(folder, '.build-'));
  try {
    await make(making);
    await rename(path.join(making, file), found);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return found;
};
