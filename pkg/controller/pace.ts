import type { KubeClient, KubeRequest } from '../kube/client.ts';
import type { Target } from './apply.ts';
import { systemClock, type Clock } from './clock.ts';

/** How fast somebody may write: so many a second, and so many at once after a rest. */
export interface WriteLimits {
  perSecond: number;
  burst: number;
}

/** Spreads turns over time, in the order in which they are asked for. */
export class Pace {
  readonly #intervalMs: number;
  readonly #creditMs: number;
  readonly #clock: Clock;
  /** When the next turn is due that nobody rested for. */
  #due = Number.NEGATIVE_INFINITY;

  constructor({ perSecond, burst }: WriteLimits, clock: Clock = systemClock) {
    this.#intervalMs = 1000 / perSecond;
    this.#creditMs = (burst - 1) * this.#intervalMs;
    this.#clock = clock;
  }

  /** Resolves when it is one's turn. */
  turn(): Promise<void> {
    const now = this.#clock.now();
    const due = Math.max(this.#due, now - this.#creditMs);
    this.#due = due + this.#intervalMs;
    return due <= now ? Promise.resolve() : new Promise((resolve) => void this.#clock.after(due - now, resolve));
  }
}

/** A client whose writes wait for their turn; reads do not. */
export const pacedClient = (client: Pick<KubeClient, 'json'>, pace: Pace): Pick<KubeClient, 'json'> => ({
  json: async <T>(request: KubeRequest): Promise<T> => {
    if (request.method !== undefined && request.method !== 'GET') await pace.turn();
    return client.json<T>(request);
  },
});

/** The same of a target. */
export const pacedTarget = (target: Target, pace: Pace): Target => ({
  get: (namespace, name) => target.get(namespace, name),
  apply: async (object, subresource) => {
    await pace.turn();
    return target.apply(object, subresource);
  },
  delete: async (namespace, name, uid) => {
    await pace.turn();
    return target.delete(namespace, name, uid);
  },
});
