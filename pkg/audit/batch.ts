import { endWithin, prepared, type Delivery, type Truncate } from './delivery.ts';
import type { EncodedEvent } from './encoding.ts';
import type { Event } from './event.ts';
import type { AuditMetrics } from './metrics.ts';
import type { Backend } from './sink.ts';
import { Throttle, type ThrottleOptions } from './throttle.ts';

export interface BatchOptions {
  /** Events that wait or are being sent; more are dropped. */
  bufferSize: number;
  /** Events sent at a time. */
  maxBatchSize: number;
  /** How long an event may wait for others, milliseconds. */
  maxWaitMs: number;
  throttle?: ThrottleOptions;
  /** Batches that are sent at the same time. */
  maxConcurrent: number;
}

interface BatchBackendOptions extends BatchOptions {
  truncate: Truncate;
  metrics: AuditMetrics;
}

/** However few events they are: what a dead sink may cost in memory, in characters of JSON. */
const maxBufferedSize = 128 * 1024 * 1024;

/**
 * Queues events and sends them in batches, so that no request waits and none is refused. What the queue cannot take is
 * dropped and counted; so is what a delivery gives up.
 */
export class BatchBackend implements Backend {
  readonly #delivery: Delivery;
  readonly #options: BatchBackendOptions;
  readonly #throttle: Throttle | undefined;
  readonly #abort = new AbortController();
  #queue: EncodedEvent[] = [];
  #underWay = 0;
  /** Events, and their characters, that wait or are being sent. */
  #held = { events: 0, size: 0 };
  /** What is queued is to be sent whether it fills a batch or not. */
  #due = false;
  #timer: NodeJS.Timeout | undefined;
  #throttled: NodeJS.Timeout | undefined;
  #stopping: (() => void) | undefined;

  constructor(delivery: Delivery, options: BatchBackendOptions) {
    this.#delivery = delivery;
    this.#options = options;
    this.#throttle = options.throttle && new Throttle(options.throttle);
  }

  process(event: Event): true {
    const { truncate, metrics, bufferSize } = this.#options;
    if (this.#stopping) return this.#drop('the audit backend has stopped');
    if (this.#held.events >= bufferSize) return this.#drop('the audit queue is full');
    const fitting = prepared(event, truncate, metrics);
    if (!fitting) return true;
    if (this.#held.size + fitting.json.length > maxBufferedSize) return this.#drop('the audit queue holds too much');
    this.#queue.push(fitting);
    this.#held.events += 1;
    this.#held.size += fitting.json.length;
    this.#pump();
    return true;
  }

  start(): Promise<void> {
    return this.#delivery.open();
  }

  async stop(graceMs: number): Promise<void> {
    const drained = new Promise<void>((resolve) => (this.#stopping = resolve));
    this.#pump();
    await endWithin(graceMs, drained, this.#abort, this.#delivery);
    if (this.#queue.length > 0) this.#options.metrics.lost('buffered', this.#queue.length, new Error('the server stopped before they were sent'));
    this.#queue = [];
    clearTimeout(this.#timer);
    clearTimeout(this.#throttled);
  }

  #drop(why: string): true {
    this.#options.metrics.lost('buffered', 1, new Error(why));
    return true;
  }

  /** Sends what can be sent now, and sees to it that the rest is looked at again. */
  #pump(): void {
    const { maxBatchSize, maxConcurrent } = this.#options;
    const { aborted } = this.#abort.signal;
    while (!aborted && this.#queue.length > 0 && this.#underWay < maxConcurrent) {
      if (this.#queue.length < maxBatchSize && !this.#due && !this.#stopping) return this.#wait();
      if (this.#throttled) return;
      const waitMs = this.#throttle?.take() ?? 0;
      if (waitMs > 0) {
        this.#throttled = setTimeout(() => {
          this.#throttled = undefined;
          this.#pump();
        }, waitMs);
        return;
      }
      void this.#send(this.#nextBatch());
    }
    if ((aborted || this.#queue.length === 0) && this.#underWay === 0) this.#stopping?.();
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => {
      this.#due = true;
      this.#pump();
    }, this.#options.maxWaitMs);
  }

  #nextBatch(): EncodedEvent[] {
    const { maxBatchSize, truncate } = this.#options;
    let count = 0;
    for (let size = 0; count < Math.min(maxBatchSize, this.#queue.length); count += 1) {
      size += this.#queue[count]!.json.length;
      if (count > 0 && truncate && size > truncate.maxBatchSize) break;
    }
    const batch = this.#queue.splice(0, count);
    if (this.#queue.length === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#due = false;
    }
    return batch;
  }

  async #send(batch: EncodedEvent[]): Promise<void> {
    this.#underWay += 1;
    try {
      await this.#delivery.deliver(batch, this.#abort.signal);
    } catch (error) {
      this.#options.metrics.lost(this.#delivery.name, batch.length, error);
    }
    this.#underWay -= 1;
    this.#held.events -= batch.length;
    for (const { json } of batch) this.#held.size -= json.length;
    this.#pump();
  }
}
