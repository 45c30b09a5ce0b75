import { ProxyOptions } from '../../pkg/auditproxy/options.ts';
import { startProxy } from '../../pkg/auditproxy/proxy.ts';
import { Flags } from '../../pkg/server/flags.ts';
import { processLog, serveUntilStopped } from '../../pkg/server/process.ts';

const options = new ProxyOptions();
const flags = new Flags();
options.addFlags(flags);
flags.add({
  name: 'help',
  help: 'print this and exit',
  default: '',
  set: () => {
    console.log(`Usage: audit-proxy [flags]\n\n${flags.usage()}`);
    process.exit(0);
  },
});

try {
  flags.parse(process.argv.slice(2));
  await options.load();
  const faults = options.validate();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const config = await options.complete();
  const log = processLog(config.logLevel);
  await serveUntilStopped(() => startProxy(config, log), log);
} catch (error) {
  console.error(`audit-proxy: ${(error as Error).message}`);
  process.exit(1); // whatever had begun
}
