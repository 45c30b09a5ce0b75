import { strategies } from '../../pkg/registry/registry.ts';
import { Flags } from '../../pkg/server/flags.ts';
import { ServerOptions } from '../../pkg/server/options.ts';
import { processLog } from '../../pkg/server/process.ts';
import { run } from './run.ts';

const options = new ServerOptions();
const flags = new Flags();
options.addFlags(flags);
flags.add({
  name: 'help',
  help: 'print this and exit',
  default: '',
  set: () => {
    console.log(`Usage: tenant-apiserver [flags]\n\n${flags.usage()}`);
    process.exit(0);
  },
});

try {
  flags.parse(process.argv.slice(2));
  const faults = options.validate();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const config = await options.complete();
  await run(config, Object.values(strategies), processLog(config.logLevel));
} catch (error) {
  console.error(`tenant-apiserver: ${(error as Error).message}`);
  process.exitCode = 1;
}
