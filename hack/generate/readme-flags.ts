import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Flags } from '../../pkg/server/flags.ts';
import { ServerOptions } from '../../pkg/server/options.ts';
import type { GeneratedFile } from './record-crds.ts';

const file = 'README.md';
const begin = '<!-- flags: made by `npm run update`; do not edit -->';
const end = '<!-- end of flags -->';

/** README.md with the flags that the server has. Throws when it has no place for them. */
export const readmeWithFlags = async (): Promise<GeneratedFile> => {
  const present = await readFile(path.resolve(import.meta.dirname, '../..', file), 'utf8');
  const [from, to] = [present.indexOf(begin), present.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no block between ${begin} and ${end}`);
  const flags = new Flags();
  new ServerOptions().addFlags(flags);
  return { path: file, text: `${present.slice(0, from + begin.length)}\n\n${flags.markdown()}\n\n${present.slice(to)}` };
};
