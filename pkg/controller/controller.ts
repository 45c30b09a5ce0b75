import { systemClock, type Clock } from './clock.ts';
import type { Informer } from './informer.ts';
import type { Log } from './log.ts';
import { hasCode } from '../kube/status-error.ts';
import { WorkQueue } from './work-queue.ts';

export interface ControllerOptions {
  name: string;
  /** Are waited for before the first key is worked on; whoever made them starts and stops them. */
  informers: readonly Pick<Informer, 'settled'>[];
  /** Level-driven: makes the world agree with what is desired under this key, whatever happened before. */
  reconcile(key: string): Promise<void>;
  workers?: number;
  log: Log;
  clock?: Clock;
}

/** Works off keys that changed, once the caches are complete. */
export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  /** Told after each look at a key: how long it took in seconds, and whether it failed. */
  onReconciled: (seconds: number, failed: boolean) => void = () => undefined;
  readonly #options: ControllerOptions;
  #stopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.name = options.name;
    const { name, log, workers, clock = systemClock } = options;
    this.queue = new WorkQueue({
      process: (key) => this.#reconcile(key),
      ...(workers && { workers }),
      clock,
      onError: (key, error, retryInMs) => {
        // A conflict is a cache that is late: the next look is at the newer object.
        const level = hasCode(error, 409) || hasCode(error, 503) ? 'debug' : 'warn';
        log[level]({ err: error, controller: name, key, retryInMs }, 'reconcile failed');
      },
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#options.informers.map(({ settled }) => settled));
    if (!this.#stopped) this.queue.start();
  }

  async #reconcile(key: string): Promise<void> {
    const started = performance.now();
    let failed = true;
    try {
      await this.#options.reconcile(key);
      failed = false;
    } finally {
      this.onReconciled((performance.now() - started) / 1000, failed);
    }
  }

  /** Resolves when nothing runs any more. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.queue.stop();
  }
}
