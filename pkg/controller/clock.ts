/** Time as the loop sees it, so that a test can bring its own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` once, `ms` from now. Returns how to call it off. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** meta/v1 Time: RFC 3339 in seconds. */
export const timestamp = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;

/** meta/v1 MicroTime: RFC 3339 with exactly six decimals. */
export const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      signal.removeEventListener('abort', done);
      cancel();
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
