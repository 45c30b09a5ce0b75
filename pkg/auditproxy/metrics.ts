import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Ending } from '../server/connections.ts';
import type { Failure } from './failures.ts';
import type { Refusal } from './trust.ts';

const refusals: readonly Refusal[] = ['no_certificate', 'untrusted_certificate', 'no_user', 'bad_target'];
const failures: readonly Failure[] = ['unreachable', 'broken', 'timeout'];
const verbs = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']);

/** The proxy's own metrics. No label holds what a client sent. */
export class ProxyMetrics {
  readonly registry = new Registry();
  readonly #refused: Counter<'reason'>;
  readonly #forwarded: Counter<'verb' | 'code'>;
  readonly #failed: Counter<'reason'>;
  readonly #duration: Histogram<'verb'>;
  readonly #open: Gauge;
  readonly #unrecorded: Counter<'body'>;
  readonly #ended: Counter<'reason'>;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#refused = new Counter({ name: 'audit_proxy_refused_requests_total', help: 'Requests that were not believed, by why.', labelNames: ['reason'], registers });
    this.#forwarded = new Counter({ name: 'audit_proxy_forwarded_requests_total', help: "Requests by verb and code of the backend's answer.", labelNames: ['verb', 'code'], registers });
    this.#failed = new Counter({ name: 'audit_proxy_backend_failures_total', help: 'Requests that the backend did not answer, by why.', labelNames: ['reason'], registers });
    this.#duration = new Histogram({
      name: 'audit_proxy_request_duration_seconds',
      help: 'Time until a request was answered, without watches.',
      labelNames: ['verb'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#open = new Gauge({ name: 'audit_proxy_longrunning_requests', help: 'Watches and upgraded connections that are open.', registers });
    this.#unrecorded = new Counter({ name: 'audit_proxy_unrecorded_bodies_total', help: 'Bodies that audit events had to leave out, for their size or form.', labelNames: ['body'], registers });
    this.#ended = new Counter({ name: 'audit_proxy_connections_ended_total', help: 'Connections that were ended for what their peers did, by why.', labelNames: ['reason'], registers });
    // an alert needs the zero before the first one
    for (const reason of refusals) this.#refused.inc({ reason }, 0);
    for (const reason of failures) this.#failed.inc({ reason }, 0);
    for (const body of ['request', 'response']) this.#unrecorded.inc({ body }, 0);
  }

  refused(reason: Refusal): void {
    this.#refused.inc({ reason });
  }

  /** @param seconds until the answer was complete; undefined for long-running requests */
  forwarded(verb: string, code: number, seconds: number | undefined): void {
    const known = verbs.has(verb) ? verb : 'other';
    this.#forwarded.inc({ verb: known, code });
    if (seconds !== undefined) this.#duration.observe({ verb: known }, seconds);
  }

  failed(reason: Failure): void {
    this.#failed.inc({ reason });
  }

  longRunning(change: 1 | -1): void {
    this.#open.inc(change);
  }

  unrecorded(body: 'request' | 'response'): void {
    this.#unrecorded.inc({ body });
  }

  connectionEnded(reason: Ending): void {
    this.#ended.inc({ reason });
  }
}
