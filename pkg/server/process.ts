import { once } from 'node:events';
import pino from 'pino';
import type { Log } from '../controller/log.ts';
import { StatusError } from '../kube/status-error.ts';

/** The log of a server's process: a line of JSON each, on the standard output. */
export const processLog = (level: string): Log =>
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

/** Serves until the process is told to stop, and ends it. */
export const serveUntilStopped = async (start: () => Promise<{ stop(): Promise<void> }>, log: Log): Promise<void> => {
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
