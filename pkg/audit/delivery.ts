import { encode, encodeWithin, type EncodedEvent, type TruncateLimits } from './encoding.ts';
import type { Event } from './event.ts';
import type { AuditMetrics } from './metrics.ts';
import type { Backend } from './sink.ts';

/** How events leave the process. */
export interface Delivery {
  readonly name: 'log' | 'webhook';
  /** Makes ready what it writes to. @throws Error where it cannot be written to */
  open(): Promise<void>;
  /**
   * Delivers events, in order.
   * @param signal ends attempts that are still being made
   * @throws Error where they could not be delivered
   */
  deliver(events: readonly EncodedEvent[], signal: AbortSignal): Promise<void>;
  /** Gives back what it holds, once nothing is delivered any more. */
  close(): Promise<void>;
}

export type Truncate = TruncateLimits | undefined;

/** The event as it is to be sent; undefined, and counted, where it is too large. */
export const prepared = (event: Event, truncate: Truncate, metrics: AuditMetrics): EncodedEvent | undefined => {
  if (!truncate) return encode(event);
  const fitting = encodeWithin(event, truncate.maxEventSize);
  if (!fitting) metrics.lost('truncate', 1, new Error(`an audit event is larger than ${truncate.maxEventSize} characters, even without its bodies`));
  return fitting;
};

/** What a delivery that was told to end may take to do so, milliseconds. */
const endMs = 1000;

/** Waits for deliveries under way; when the grace is over ends them by their signal, and closes the delivery in any case. */
export const endWithin = async (graceMs: number, underWay: Promise<unknown>, abort: AbortController, delivery: Delivery): Promise<void> => {
  if (!(await endsIn(graceMs, underWay))) abort.abort(new Error('the server is stopping'));
  await endsIn(endMs, underWay.then(() => delivery.close()));
};

const endsIn = async (limitMs: number, work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => (timer = setTimeout(resolve, limitMs, false)));
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Delivers each event while the request waits.
 * @param strict refuses requests whose event is lost when they are received
 */
export class BlockingBackend implements Backend {
  readonly #delivery: Delivery;
  readonly #strict: boolean;
  readonly #truncate: Truncate;
  readonly #metrics: AuditMetrics;
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(delivery: Delivery, { strict, truncate, metrics }: { strict: boolean; truncate: Truncate; metrics: AuditMetrics }) {
    this.#delivery = delivery;
    this.#strict = strict;
    this.#truncate = truncate;
    this.#metrics = metrics;
  }

  process(event: Event): boolean | Promise<boolean> {
    const fitting = prepared(event, this.#truncate, this.#metrics);
    if (!fitting) return true;
    const answer = this.#delivery.deliver([fitting], this.#stop.signal).then(
      () => true,
      (error: unknown) => {
        this.#metrics.lost(this.#delivery.name, 1, error);
        return !this.#strict;
      },
    );
    this.#underWay.add(answer);
    void answer.finally(() => this.#underWay.delete(answer));
    return answer;
  }

  start(): Promise<void> {
    return this.#delivery.open();
  }

  stop(graceMs: number): Promise<void> {
    return endWithin(graceMs, Promise.all(this.#underWay), this.#stop, this.#delivery);
  }
}
