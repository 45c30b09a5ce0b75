import pino from 'pino';
import { StatusError } from '../../pkg/kube/status-error.ts';
import { strategies } from '../../pkg/registry/registry.ts';
import { Flags } from '../../pkg/server/flags.ts';
import { ServerOptions } from '../../pkg/server/options.ts';
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
  await run(config, Object.values(strategies), pino({ level: config.logLevel, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: loggedError, cause: loggedError } }));
} catch (error) {
  console.error(`tenant-apiserver: ${(error as Error).message}`);
  process.exitCode = 1;
}

/** A Status tells all there is to know; of anything else the stack is wanted. */
function loggedError(error: unknown): object {
  if (!(error instanceof Error)) return { message: cut(String(error)) };
  const cause = error.cause === undefined ? {} : { cause: loggedError(error.cause) };
  if (error instanceof StatusError) return { code: error.code, reason: error.reason, message: cut(error.message), ...cause };
  return { type: error.name, message: cut(error.message), stack: cut(error.stack ?? ''), ...cause };
}

/** Messages may repeat what a user sent, whose size must not become the log's. */
function cut(text: string): string {
  return text.length > 4096 ? `${text.slice(0, 4096)}… (${text.length} characters)` : text;
}
