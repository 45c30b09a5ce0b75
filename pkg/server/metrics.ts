import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { contextOf } from '../endpoints/context.ts';
import { sendBytes } from '../endpoints/respond.ts';
import type { Store } from '../storage/store.ts';
import type { Ending, PeerKind } from './connections.ts';

/** The server's own metrics, named as the kube-apiserver names its own. */
export class ServerMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'verb' | 'group' | 'resource' | 'subresource' | 'code'>;
  readonly #duration: Histogram<'verb' | 'group' | 'resource'>;
  readonly #watches: Gauge<'group' | 'resource'>;
  readonly #ended: Counter<'reason'>;

  constructor(stores: readonly Store[]) {
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
    this.#ended = new Counter({ name: 'tenant_apiserver_connections_ended_total', help: 'Connections that were ended, or refused, by their limits.', labelNames: ['reason'], registers });
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
      help: 'Connections that are open: of the front proxy, and of others.',
      labelNames: ['peer'],
      registers: [this.registry],
      collect() {
        for (const peer of ['front', 'peer'] as const) this.set({ peer }, count(peer));
      },
    });
  }

  /** Counts each request once it is answered. Labels are bounded: what is not served is counted without its names. */
  observe(served: (group: string, resource: string) => boolean): RequestHandler {
    return (_request, response, next) => {
      const started = process.hrtime.bigint();
      const { verb, apiGroup, resource, subresource, isResourceRequest } = contextOf(response).requestInfo;
      const known = isResourceRequest && served(apiGroup, resource);
      const labels = { verb, group: known ? apiGroup : '', resource: known ? resource : '' };
      const watching = known && verb === 'watch' ? { group: apiGroup, resource } : undefined;
      if (watching) this.#watches.inc(watching);
      response.once('close', () => {
        if (watching) this.#watches.dec(watching);
        else this.#duration.observe(labels, Number(process.hrtime.bigint() - started) / 1e9);
        this.#requests.inc({ ...labels, subresource: known && subresource === 'status' ? subresource : '', code: response.statusCode });
      });
      next();
    };
  }

  handler(): RequestHandler {
    return async (_request, response) => sendBytes(response, 200, this.registry.contentType, await this.registry.metrics());
  }
}
