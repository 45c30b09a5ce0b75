import { Worker } from 'node:worker_threads';
import type { WatchdogData, WatchdogNote } from './watchdog-thread.ts';

export interface Watchdog {
  /** Tells what is going on, in case that the main thread cannot any more. */
  note(note: WatchdogNote): void;
  /** Ends the watch. */
  stop(): Promise<void>;
}

/**
 * Watches a run from a thread of its own, since a test that never yields would block a timer here. `onExpired` has
 * `graceMs` to end the process; then the thread writes the closing line itself, if the run closes with one, and kills
 * the process.
 */
export const startWatchdog = ({ limitMs, graceMs, closes = true }: { limitMs: number; graceMs: number; closes?: boolean }, onExpired: () => void): Watchdog => {
  const workerData: WatchdogData = { limitMs, graceMs, closes };
  const worker = new Worker(new URL('watchdog-thread.ts', import.meta.url), { workerData });
  worker.once('message', onExpired);
  worker.unref();
  return {
    note: (note) => worker.postMessage(note),
    stop: async () => void (await worker.terminate()),
  };
};
