import { Registry } from 'prom-client';
import { silentLog } from '../controller/log.ts';
import type { Delivery } from './delivery.ts';
import type { Event, Level } from './event.ts';
import { AuditMetrics } from './metrics.ts';

/** An event for tests, told from others by its id. */
export const eventNamed = (auditID: string, rest: Partial<Event> = {}): Event => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata' satisfies Level,
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
  stageTimestamp: '2026-01-01T00:00:00.000000Z',
  ...rest,
});

/** Metrics, and a way to read them. */
export const countedMetrics = (): { metrics: AuditMetrics; value: (name: string, labels?: Record<string, string>) => Promise<number> } => {
  const registry = new Registry();
  return {
    metrics: new AuditMetrics(registry, silentLog),
    value: async (name, labels = {}) => {
      const { values } = (await registry.getSingleMetric(name)!.get()) as { values: { value: number; labels: Record<string, string> }[] };
      return values.find((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))?.value ?? 0;
    },
  };
};

/** A receiver of batches that a test lets succeed or fail, one by one; until then they are under way. */
export class Receiver implements Delivery {
  readonly name = 'webhook';
  /** Ids of each batch, in the order in which they came. */
  readonly batches: string[][] = [];
  closed = false;
  readonly #pending: { resolve: () => void; reject: (error: Error) => void }[] = [];
  readonly #arrivals: { count: number; arrived: () => void }[] = [];
  readonly #answers: boolean;

  /** @param answers whether every batch succeeds at once */
  constructor(answers = false) {
    this.#answers = answers;
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  deliver(events: Parameters<Delivery['deliver']>[0], signal: AbortSignal): Promise<void> {
    this.batches.push(events.map(({ event }) => event.auditID));
    for (const { count, arrived } of this.#arrivals) if (this.batches.length >= count) arrived();
    if (this.#answers) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  /** Resolves once so many batches have come. */
  arrived(count: number): Promise<void> {
    return new Promise((arrived) => {
      if (this.batches.length >= count) arrived();
      else this.#arrivals.push({ count, arrived });
    });
  }

  succeed(): void {
    this.#pending.shift()!.resolve();
  }

  fail(): void {
    this.#pending.shift()!.reject(new Error('the receiver is dead'));
  }
}
