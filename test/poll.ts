import { setTimeout } from 'node:timers/promises';

export interface PollOptions {
  /** 60 s if left out. */
  withinMs?: number;
  /** 100 ms if left out. */
  everyMs?: number;
}

/**
 * Calls `probe` until it gives something other than undefined or false, and returns that. Throws once the time is up,
 * with what was waited for and the last error of the probe, if it threw.
 */
export const eventually = async <T>(what: string, probe: () => Promise<T | undefined | false> | T | undefined | false, { withinMs = 60_000, everyMs = 100 }: PollOptions = {}): Promise<T> => {
  const deadline = performance.now() + withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined && result !== false) return result;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`, { cause });
    await setTimeout(everyMs);
  }
};
