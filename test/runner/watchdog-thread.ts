import { parentPort, workerData } from 'node:worker_threads';
import { print } from './outcome.ts';

export interface WatchdogData { limitMs: number; graceMs: number; closes: boolean }

export interface WatchdogNote {
  running: string;
  passed: number;
  /** Tests that have not passed so far, whether they failed or are still to come. */
  others: number;
}

const { limitMs, graceMs, closes } = workerData as WatchdogData;
let latest: WatchdogNote = { running: 'loading test files', passed: 0, others: 1 };
parentPort?.on('message', (note: WatchdogNote) => {
  latest = note;
});
setTimeout(() => {
  parentPort?.postMessage('expired');
  setTimeout(() => {
    print(`\nthe run took longer than ${limitMs / 1000} s; killed, because this blocks the event loop:\n  ${latest.running}`);
    if (closes) print(`${latest.passed} passed, ${latest.others} failed`);
    process.kill(process.pid, 'SIGKILL');
  }, graceMs);
}, limitMs);
