import { Counter, type Registry } from 'prom-client';
import type { Log } from '../controller/log.ts';
import { levels, type Level } from './event.ts';
import type { Sink } from './sink.ts';

/** Who lost events: the queue, a delivery, or the limit of an event's size. */
export type AuditPlugin = 'buffered' | 'log' | 'webhook' | 'truncate';

const plugins: readonly AuditPlugin[] = ['buffered', 'log', 'webhook', 'truncate'];
/** A dead sink loses thousands of events a second: how often that is told. */
const logIntervalMs = 10_000;

/** The counters that the kube-apiserver keeps of its audit, under its names. */
export class AuditMetrics {
  readonly #events: Counter;
  readonly #errors: Counter<'plugin'>;
  readonly #levels: Counter<'level'>;
  readonly #rejected: Counter;
  readonly #log: Pick<Log, 'warn'>;
  readonly #now: () => number;
  readonly #told = new Map<AuditPlugin, { at: number; lost: number }>();

  constructor(registry: Registry, log: Pick<Log, 'warn'>, now: () => number = Date.now) {
    const registers = [registry];
    this.#log = log;
    this.#now = now;
    this.#events = new Counter({ name: 'apiserver_audit_event_total', help: 'Audit events that were made and given to the backends.', registers });
    this.#errors = new Counter({ name: 'apiserver_audit_error_total', help: 'Audit events that were lost, by who lost them.', labelNames: ['plugin'], registers });
    this.#levels = new Counter({ name: 'apiserver_audit_level_total', help: 'Requests by the level that the audit policy gives them.', labelNames: ['level'], registers });
    this.#rejected = new Counter({ name: 'apiserver_audit_requests_rejected_total', help: 'Requests that were refused because they could not be audited.', registers });
    for (const plugin of plugins) this.#errors.inc({ plugin }, 0); // an alert needs the zero before the first loss
    for (const level of levels) this.#levels.inc({ level }, 0);
  }

  /** A sink that counts what it is given. */
  counting(sink: Sink): Sink {
    return {
      process: (event) => {
        this.#events.inc();
        return sink.process(event);
      },
    };
  }

  level(level: Level): void {
    this.#levels.inc({ level });
  }

  rejected(): void {
    this.#rejected.inc();
  }

  /** Counts events that nobody will see, and says so in the log now and then; never what is in them. */
  lost(plugin: AuditPlugin, count: number, error: unknown): void {
    this.#errors.inc({ plugin }, count);
    const now = this.#now();
    const told = this.#told.get(plugin) ?? { at: -Infinity, lost: 0 };
    told.lost += count;
    if (now - told.at >= logIntervalMs) {
      this.#log.warn({ plugin, lost: told.lost, err: error }, 'audit events were lost');
      Object.assign(told, { at: now, lost: 0 });
    }
    this.#told.set(plugin, told);
  }
}
