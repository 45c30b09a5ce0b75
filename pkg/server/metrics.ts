import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { contextOf } from '../endpoints/context.ts';
import type { FairQueue } from '../endpoints/flow/fair-queue.ts';
import type { RequestKind } from '../endpoints/flow/flow.ts';
import type { RequestInfo } from '../endpoints/request-info.ts';
import { sendBytes } from '../endpoints/respond.ts';
import type { Store } from '../storage/store.ts';
import type { Ending, PeerKind } from './connections.ts';

const verbs = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put', 'head', 'options', 'connect', 'trace', 'proxy']);

/** The server's own metrics, named as the kube-apiserver names its own. */
export class ServerMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'verb' | 'group' | 'resource' | 'subresource' | 'code'>;
  readonly #duration: Histogram<'verb' | 'group' | 'resource'>;
  readonly #watches: Gauge<'group' | 'resource'>;
  readonly #ended: Counter<'reason'>;
  readonly #dropped: Counter<'request_kind'>;
  readonly #terminations: Counter<'verb' | 'group' | 'resource' | 'subresource' | 'code'>;

  /** Groups by resource. */
  readonly #served: ReadonlyMap<string, string>;

  constructor(stores: readonly Store[]) {
    this.#served = new Map(stores.map(({ definition }) => [definition.plural, definition.group]));
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and HTTP status code.',
      labelNames: ['verb', 'group', 'resource', 'subresource', 'code'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time until a request was answered, without watches.',
      labelNames: ['verb', 'group', 'resource'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#watches = new Gauge({ name: 'apiserver_longrunning_requests', help: 'Watches that are open.', labelNames: ['group', 'resource'], registers });
    this.#dropped = new Counter({ name: 'apiserver_dropped_requests_total', help: 'Requests that were turned away because of too many others.', labelNames: ['request_kind'], registers });
    this.#terminations = new Counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that were ended in self-defence: turned away, or out of time.',
      labelNames: ['verb', 'group', 'resource', 'subresource', 'code'],
      registers,
    });
    this.#ended = new Counter({ name: 'tenant_apiserver_connections_ended_total', help: 'Connections that were ended or refused, and requests that were reset, by their limits.', labelNames: ['reason'], registers });
    for (const [name, help, value] of [
      ['tenant_apiserver_cache_objects', 'Objects in the watch cache.', (store: Store) => store.cache.size],
      ['tenant_apiserver_cache_version', 'Version up to which the watch cache misses nothing.', (store: Store) => store.cache.version],
      ['tenant_apiserver_cache_complete', '1 once the watch cache holds the whole collection.', (store: Store) => Number(store.cache.complete)],
    ] as const) {
      new Gauge({
        name,
        help,
        labelNames: ['resource'],
        registers,
        collect() {
          for (const store of stores) this.set({ resource: store.definition.plural }, value(store));
        },
      });
    }
  }

  connectionEnded(reason: Ending): void {
    this.#ended.inc({ reason });
  }

  observeConnections(count: (kind: PeerKind) => number): void {
    new Gauge({
      name: 'tenant_apiserver_connections',
      help: 'Connections that are open: of the front proxy, of proxies that are trusted by name, and of others.',
      labelNames: ['peer'],
      registers: [this.registry],
      collect() {
        for (const peer of ['front', 'proxy', 'peer'] as const) this.set({ peer }, count(peer));
      },
    });
  }

  dropped(kind: RequestKind, info: RequestInfo): void {
    this.#dropped.inc({ request_kind: kind });
    this.terminated(info, 429);
  }

  terminated(info: RequestInfo, code: number): void {
    this.#terminations.inc({ ...this.#labelsOf(info), code });
  }

  observeQueues(queues: Readonly<Record<RequestKind, Pick<FairQueue, 'inFlight' | 'waiting'>>>): void {
    for (const [name, help, count] of [
      ['apiserver_current_inflight_requests', 'Requests that are let in, by kind.', 'inFlight'],
      ['apiserver_current_inqueue_requests', 'Requests that wait to be let in, by kind.', 'waiting'],
    ] as const) {
      new Gauge({
        name,
        help,
        labelNames: ['request_kind'],
        registers: [this.registry],
        collect() {
          for (const [kind, queue] of Object.entries(queues)) this.set({ request_kind: kind }, queue[count]);
        },
      });
    }
  }

  /** Counts a request whose path cannot be read, which is all that is known of it. */
  unreadable(): void {
    this.#requests.inc({ verb: 'OTHER', group: '', resource: '', subresource: '', code: 400 });
  }

  /** Counts each request once it is answered. */
  observe(): RequestHandler {
    return (_request, response, next) => {
      const started = process.hrtime.bigint();
      const { subresource, ...labels } = this.#labelsOf(contextOf(response).requestInfo);
      const watching = labels.resource !== '' && labels.verb === 'watch' ? { group: labels.group, resource: labels.resource } : undefined;
      if (watching) this.#watches.inc(watching);
      response.once('close', () => {
        if (watching) this.#watches.dec(watching);
        else this.#duration.observe(labels, Number(process.hrtime.bigint() - started) / 1e9);
        this.#requests.inc({ ...labels, subresource, code: response.statusCode });
      });
      next();
    };
  }

  /** Bounded, whatever a client sends: what is not served is counted without its names, and what is no verb as OTHER. */
  #labelsOf({ verb, apiGroup, resource, subresource, isResourceRequest }: RequestInfo): { verb: string; group: string; resource: string; subresource: string } {
    const known = isResourceRequest && this.#served.get(resource) === apiGroup;
    return {
      verb: verbs.has(verb) ? verb : 'OTHER',
      group: known ? apiGroup : '',
      resource: known ? resource : '',
      subresource: known && subresource === 'status' ? subresource : '',
    };
  }

  handler(): RequestHandler {
    return async (_request, response) => sendBytes(response, 200, this.registry.contentType, await this.registry.metrics());
  }
}
