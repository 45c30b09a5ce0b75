import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Controller } from './controller.ts';

/** What controllers do: how long each look at a key takes, and how many keys wait. Made once for a process; controllers come and go. */
export class ControllerMetrics {
  readonly #duration: Histogram<'controller' | 'result'>;
  readonly #controllers = new Set<Controller>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#duration = new Histogram({
      name: 'tenant_apiserver_reconcile_duration_seconds',
      help: 'Time that a controller took to look at one object and to make what it stands for.',
      labelNames: ['controller', 'result'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
      registers,
    });
    const controllers = this.#controllers;
    new Gauge({
      name: 'tenant_apiserver_queue_depth',
      help: 'Objects that wait for a controller to look at them.',
      labelNames: ['controller'],
      registers,
      collect() {
        this.reset();
        for (const { name, queue } of controllers) this.set({ controller: name }, queue.length);
      },
    });
  }

  /** Counts what a controller does from now on. Returns how to leave it. */
  watch(controller: Controller): () => void {
    this.#controllers.add(controller);
    controller.onReconciled = (seconds, failed) => this.#duration.observe({ controller: controller.name, result: failed ? 'error' : 'success' }, seconds);
    return () => void this.#controllers.delete(controller);
  }
}
