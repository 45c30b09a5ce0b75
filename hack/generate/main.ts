import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gatewayRole } from './gateway-role.ts';
import { gatewayExamples } from './gateway-examples.ts';
import { pageWithProxyOptions } from './proxy-options.ts';
import { pagesWithFlags } from './readme-flags.ts';
import { schemas } from './schemas.ts';
import { tenantRoles } from './tenant-roles.ts';
import { recordCrds, type GeneratedFile } from './record-crds.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Every file of the repository that is generated, or holds something generated. */
const generatedFiles = async (): Promise<GeneratedFile[]> => [...schemas(), ...recordCrds(), tenantRoles(), gatewayRole(), ...(await gatewayExamples()), ...(await pagesWithFlags()), await pageWithProxyOptions()];

/** The paths of generated files that are missing or not what they would be if they were made now. */
export const staleFiles = async (): Promise<string[]> => {
  const stale: string[] = [];
  for (const { path: file, text } of await generatedFiles()) {
    const present = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
    if (present !== text) stale.push(file);
  }
  return stale;
};

const main = async (verify: boolean): Promise<number> => {
  const stale = await staleFiles();
  if (verify) {
    for (const file of stale) console.error(`${file} is out of date: run npm run update`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const { path: file, text } of await generatedFiles()) {
    if (!stale.includes(file)) continue;
    await writeFile(path.join(root, file), text);
    console.log(`wrote ${file}`);
  }
  return 0;
};

if (import.meta.main) process.exitCode = await main(process.argv.includes('--verify'));
