import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RunFolder } from './run-folder.ts';
import { exitCodes, signalled } from './signals.ts';
import { show } from './show.ts';
import { type Ingredients, prepare, Stack } from './stack.ts';

const checkout = path.resolve(import.meta.dirname, '../..');
const usage = `Usage: npm start [-- flags]

Brings up a control plane with the product and an example tree on it, shows them, and runs until Ctrl-C.

  --audit-proxy        puts audit-proxy in front of tenant-apiserver
  --check              ends once all is shown: exit code 0, or another one with the reason
  --directory <path>   holds kubeconfig, kubectl, logs and data, which the next start takes up again (default .run)
`;

/** Building from source is what takes long. */
const preparedWithinMs = 75 * 60_000;
const upWithinMs = 5 * 60_000;
const buildEndsWithinMs = 3000;

const began = Date.now();
const log = (line: string): void => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);

const within = async <T>(limitMs: number, work: Promise<T>, complaint: () => string): Promise<T> => {
  const limit = new AbortController();
  try {
    return await Promise.race([work, setTimeout(limitMs, undefined, { signal: limit.signal }).then(() => { throw new Error(`not ready within ${limitMs / 60_000} minutes: ${complaint()}`); })]);
  } finally {
    limit.abort();
  }
};

const bringUp = async (folder: RunFolder, stack: Stack, preparing: Promise<Ingredients>): Promise<void> => {
  const ingredients = await within(preparedWithinMs, preparing, () => 'building and downloading took too long');
  try {
    await within(upWithinMs, stack.start(ingredients), () => stack.waitingFor);
  } catch (error) {
    // That a process ended explains more than that it could not be reached.
    const reason = (await stack.fault()) ?? (error as Error).message;
    throw new Error(folder.kept && !reason.includes(folder.advice) ? `${reason}\nIf it is the data of an earlier start that stands in the way: ${folder.advice}` : reason, { cause: error });
  }
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: { 'audit-proxy': { type: 'boolean', default: false }, check: { type: 'boolean', default: false }, directory: { type: 'string', default: path.join(checkout, '.run') }, help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const stop = signalled();
  const folder = await RunFolder.take(path.resolve(values.directory), log);
  const stack = new Stack(folder, log, { auditProxy: values['audit-proxy'] });
  const watched = stack.watch();
  watched.catch(() => undefined); // raced below; it may reject while nobody listens
  const preparing = prepare(log);
  const up = bringUp(folder, stack, preparing).then(() => (stack.stopping ? undefined : show(folder.directory)));
  // Ctrl-C in a terminal also ends the commands that run for us: their failure is not what happened.
  const upOrSignal = Promise.race([watched, up]).catch(async (error: unknown) => (await Promise.race([stop, setTimeout(100)])) ?? Promise.reject(error));
  try {
    const signal = await Promise.race([stop, upOrSignal]);
    if (signal !== undefined) {
      log(`${signal}: stopping what was started`);
      return exitCodes[signal];
    }
    if (values.check) return 0;
    console.log('Ctrl-C stops everything.');
    await Promise.race([stop, watched]);
    return 0;
  } finally {
    await stack.stop();
    // A build that was ended, too, removes its temporary files.
    await Promise.race([preparing.catch(() => undefined), setTimeout(buildEndsWithinMs)]);
  }
};

let exitCode = 1;
try {
  exitCode = await main();
} catch (error) {
  console.error(`npm start: ${(error as Error).message}`);
}
process.exit(exitCode); // with whatever is still being built or started
