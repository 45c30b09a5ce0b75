import type { Event } from './event.ts';

/** Where events go. */
export interface Sink {
  /**
   * Takes an event over; it is not changed afterwards. Never throws and never rejects: what cannot be delivered is counted.
   * @returns false where the request that the event tells of must be refused (mode blocking-strict); a promise where
   * the request has to wait (both blocking modes)
   */
  process(event: Event): boolean | Promise<boolean>;
}

/** A sink with a life of its own. */
export interface Backend extends Sink {
  /** Makes ready what it writes to. @throws Error where it cannot be written to */
  start(): Promise<void>;
  /** Delivers what is still queued, but takes no longer than this. What comes later is dropped and counted. */
  stop(graceMs: number): Promise<void>;
}

/** Several backends as one: each gets every event, and each may refuse. */
export const union = (backends: readonly Backend[]): Backend => {
  if (backends.length === 1) return backends[0]!;
  return {
    process: (event) => {
      const answers = backends.map((backend) => backend.process(event));
      const waiting = answers.filter((answer) => typeof answer !== 'boolean');
      const accepted = !answers.includes(false);
      return waiting.length === 0 ? accepted : Promise.all(waiting).then((all) => accepted && all.every(Boolean));
    },
    start: async () => {
      for (const backend of backends) await backend.start();
    },
    stop: async (graceMs) => void (await Promise.all(backends.map((backend) => backend.stop(graceMs)))),
  };
};
