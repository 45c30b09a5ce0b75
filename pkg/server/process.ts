import { once } from 'node:events';
import pino from 'pino';
import type { Log } from '../controller/log.ts';
import { StatusError } from '../kube/status-error.ts';
import { Flags } from './flags.ts';

/** The log of a server's process: a line of JSON each, on the standard output. */
const processLog = (level: string): Log =>
  pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: loggedError, cause: loggedError } });

/** A Status tells all there is to know; of anything else the stack is wanted. */
const loggedError = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: cut(String(error)) };
  const cause = error.cause === undefined ? {} : { cause: loggedError(error.cause) };
  if (error instanceof StatusError) return { code: error.code, reason: error.reason, message: cut(error.message), ...cause };
  return { type: error.name, message: cut(error.message), stack: cut(error.stack ?? ''), ...cause };
};

/** Messages may repeat what a user sent, whose size must not become the log's. */
const cut = (text: string): string => (text.length > 4096 ? `${text.slice(0, 4096)}… (${text.length} characters)` : text);

/** The settings of a program. */
export interface Options<Config> {
  addFlags(flags: Flags): void;
  /** Reads the rest from where the flags say. @throws Error */
  load?(): Promise<void>;
  /** Every fault, without I/O. */
  validate(): string[];
  complete(): Promise<Config>;
}

/** Does what the command line says, until the process is told to stop; ends it. With 1 where it could not start, and why on the standard error. */
export const runProgram = async <Config extends { logLevel: string }>(
  name: string,
  options: Options<Config>,
  start: (config: Config, log: Log) => Promise<{ stop(): Promise<void> }>,
): Promise<void> => {
  const flags = new Flags();
  options.addFlags(flags);
  const help = (): void => {
    console.log(`Usage: ${name} [flags]\n\n${flags.usage()}`);
    process.exit(0);
  };
  flags.add({ name: 'help', help: 'print this and exit', default: '', set: help });
  try {
    flags.parse(process.argv.slice(2));
    await options.load?.();
    const faults = options.validate();
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const config = await options.complete();
    const log = processLog(config.logLevel);
    await serveUntilStopped(() => start(config, log), log);
  } catch (error) {
    console.error(`${name}: ${(error as Error).message}`);
    process.exit(1); // whatever had begun
  }
};

/** Serves until the process is told to stop, and ends it. */
const serveUntilStopped = async (start: () => Promise<{ stop(): Promise<void> }>, log: Log): Promise<void> => {
  // a defect must be seen, and must not take other users' requests down with it
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a promise was rejected and nobody listened'));
  process.on('uncaughtException', (error) => log.error({ err: error }, 'an exception was thrown and nobody caught it'));
  const running = await start();
  const [signal] = await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  log.info({ signal }, 'stopping');
  await running.stop();
  log.info({}, 'stopped');
  process.exit(0); // whatever handle a dependency left open
};
