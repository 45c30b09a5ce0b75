import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Flags } from '../../pkg/server/flags.ts';
import { ServerOptions } from '../../pkg/server/options.ts';

const readme = path.resolve(import.meta.dirname, '../../README.md');
const begin = '<!-- flags: made by `node hack/readme/flags.ts`; do not edit -->';
const end = '<!-- end of flags -->';

/** README.md as it is, and as it should be with the flags that the server has. Throws when it has no place for them. */
export const readmeWithFlags = async (): Promise<{ present: string; wanted: string }> => {
  const present = await readFile(readme, 'utf8');
  const [from, to] = [present.indexOf(begin), present.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md has no block between ${begin} and ${end}`);
  const flags = new Flags();
  new ServerOptions().addFlags(flags);
  return { present, wanted: `${present.slice(0, from + begin.length)}\n\n${flags.markdown()}\n\n${present.slice(to)}` };
};

const main = async (verify: boolean): Promise<number> => {
  const { present, wanted } = await readmeWithFlags();
  if (present === wanted) return 0;
  if (!verify) await writeFile(readme, wanted);
  console.log(verify ? "README.md does not list the server's flags as they are: run node hack/readme/flags.ts" : 'wrote README.md');
  return verify ? 1 : 0;
};

if (import.meta.main) process.exitCode = await main(process.argv.includes('--verify'));
