import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ProxyOptions } from '../../pkg/auditproxy/options.ts';
import type { GeneratedFile } from './record-crds.ts';

const file = 'docs/audit-proxy.md';
const begin = '<!-- options: made by `npm run update`; do not edit -->';
const end = '<!-- end of options -->';

/** docs/audit-proxy.md with the options that the proxy has. Throws when it has no place for them. */
export const pageWithProxyOptions = async (): Promise<GeneratedFile> => {
  const present = await readFile(path.resolve(import.meta.dirname, '../..', file), 'utf8');
  const [from, to] = [present.indexOf(begin), present.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no block between ${begin} and ${end}`);
  const rows = new ProxyOptions().options.map(({ path: at, name, default: shown, help }) => `| \`${at}\` | \`--${name}\` | ${shown ? `\`${shown}\`` : 'none'} | ${help.replaceAll('|', '\\|')} |`);
  const table = ['| In the file | Flag | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
  return { path: file, text: `${present.slice(0, from + begin.length)}\n\n${table}\n\n${present.slice(to)}` };
};
