import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ProgramOptions } from '../../cmd/tenant-apiserver/options.ts';
import { Flags } from '../../pkg/server/flags.ts';
import type { GeneratedFile } from './record-crds.ts';

const begin = '<!-- flags: made by `npm run update`; do not edit -->';
const end = '<!-- end of flags -->';

/** The pages that list flags. Those about audit have a page of their own, being many. */
export const pagesWithFlags = (): Promise<GeneratedFile[]> =>
  Promise.all([withFlags('README.md', (name) => !name.startsWith('audit-')), withFlags('docs/audit.md', (name) => name.startsWith('audit-'))]);

/** A page with the flags that the server has. Throws when it has no place for them. */
const withFlags = async (file: string, belongs: (name: string) => boolean): Promise<GeneratedFile> => {
  const present = await readFile(path.resolve(import.meta.dirname, '../..', file), 'utf8');
  const [from, to] = [present.indexOf(begin), present.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no block between ${begin} and ${end}`);
  const flags = new Flags();
  new ProgramOptions().addFlags(flags);
  const shown = new Flags();
  for (const flag of flags.all) if (belongs(flag.name)) shown.add(flag);
  return { path: file, text: `${present.slice(0, from + begin.length)}\n\n${shown.markdown()}\n\n${present.slice(to)}` };
};
