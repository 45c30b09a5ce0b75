import type { Request, Response } from 'express';
import type { Registry } from 'prom-client';
import { AdmissionChain } from '../admission/chain.ts';
import { fieldGate } from '../admission/field-gate.ts';
import { names } from '../admission/names.ts';
import { NamespaceLifecycle } from '../admission/namespace-lifecycle.ts';
import { ResourceQuotaAdmission } from '../admission/resource-quota.ts';
import { strategyAdmission } from '../admission/strategy.ts';
import { createBackends } from '../audit/backends.ts';
import { AuditMetrics } from '../audit/metrics.ts';
import { microClock } from '../audit/micro-time.ts';
import { policyEvaluator } from '../audit/policy.ts';
import type { Backend } from '../audit/sink.ts';
import { delegatedAuthentication, type DelegatedAuthentication } from '../authentication/delegated.ts';
import type { UserInfo } from '../authentication/user.ts';
import { delegatedAuthorization } from '../authorization/delegated.ts';
import type { Log } from '../controller/log.ts';
import { servedAsCustomResource } from '../endpoints/documents/served.ts';
import type { Auditing } from '../endpoints/filters/audit.ts';
import { defaultQueueLimits, FairQueue } from '../endpoints/flow/fair-queue.ts';
import type { RequestScope } from '../endpoints/handlers/scope.ts';
import { resourceHandler } from '../endpoints/resource-handler.ts';
import { structuralOf } from '../endpoints/structural/schema.ts';
import { compileColumns } from '../endpoints/table.ts';
import { KubeClient } from '../kube/client.ts';
import type { Quantity } from '../quantity/quantity.ts';
import type { KindAdmission, Strategy } from '../registry/strategy.ts';
import { fenceName } from '../storage/records/fence-object.ts';
import { RecordStore } from '../storage/records/store.ts';
import type { Store } from '../storage/store.ts';
import type { AuditConfig } from './audit-options.ts';
import { createAuthority } from './certificates.ts';
import { CertificateFiles } from './certificate-files.ts';
import { chain, errorHandler } from './chain.ts';
import type { Apps } from './express-apps.ts';
import { healthHandler, type HealthCheck } from './health.ts';
import { inTurn, type Serve } from './in-turn.ts';
import { Listener, type ServingCertificate } from './listener.ts';
import { ServerMetrics } from './metrics.ts';
import type { ServerConfig } from './options.ts';
import { RefusalLog } from './refusal-log.ts';
import { ServingSecret } from './serving-secret.ts';
import { version } from './version.ts';

/** How long events may take to be written once all requests have ended. */
const auditGraceMs = 5_000;
/** How long requests under way may take once the server is to stop. */
const graceMs = 20_000;

export interface ApiServerOptions {
  config: ServerConfig;
  strategies: readonly Strategy[];
  log: Log;
}

/** The API server without its loop: stores, filter chain, documents, health, and the listener that they answer on. */
export class ApiServer {
  readonly client: KubeClient;
  readonly metrics: ServerMetrics;
  /** The leader keeps it; absent where the certificate comes from files. */
  readonly servingSecret: ServingSecret | undefined;
  readonly #config: ServerConfig;
  readonly #log: Log;
  readonly #refusals: RefusalLog;
  readonly #stores: ReadonlyMap<string, Store>;
  readonly #authentication: DelegatedAuthentication;
  readonly #namespaces: NamespaceLifecycle;
  readonly #quotas: ResourceQuotaAdmission;
  readonly #kindAdmissions: KindAdmission[];
  readonly #audit: { auditing: Auditing; backend: Backend } | undefined;
  readonly #certificateFiles: CertificateFiles | undefined;
  readonly #serve: Serve;
  #listener: Listener | undefined;
  #stopping = false;

  constructor({ config, strategies, log }: ApiServerOptions) {
    const onError = (error: unknown): void => log.warn({ err: error }, 'watching the kube-apiserver failed; it is tried again');
    this.#config = config;
    this.#log = log;
    this.#refusals = new RefusalLog(log);
    this.client = new KubeClient(config.host, `tenant-apiserver/${version}`);
    this.#stores = new Map(strategies.map((strategy) => [strategy.definition.plural, this.#storeOf(strategy, onError)]));
    this.metrics = new ServerMetrics([...this.#stores.values()]);
    this.#audit = config.audit && audit(config.audit, this.metrics.registry, log);
    this.#authentication = delegatedAuthentication({
      client: this.client,
      anonymous: config.anonymous,
      tokenAudiences: config.tokenAudiences,
      onFault: (fault) => log.warn({ fault }, 'reading the authentication configuration failed'),
      onFrontChange: () => this.#listener?.reconsider(),
    });
    this.#namespaces = new NamespaceLifecycle(this.client, onError);
    this.#quotas = new ResourceQuotaAdmission(this.client, onError);
    this.#kindAdmissions = strategies.flatMap((strategy) => this.#admissionsOf(strategy));
    if (config.certFile) {
      this.#certificateFiles = new CertificateFiles(config.certFile, config.keyFile, (certificate) => this.#useCertificate(certificate), onError);
    } else {
      this.servingSecret = new ServingSecret({
        client: this.client,
        namespace: config.namespace,
        name: `${config.serviceName}-serving`,
        dnsNames: this.#dnsNames(),
        onError,
        onChange: (certificate) => this.#useCertificate(certificate),
      });
    }
    this.#serve = this.#serveAll(strategies);
  }

  /** The store of a resource, by its plural. */
  store(resource: string): Store {
    const store = this.#stores.get(resource);
    if (!store) throw new Error(`no store for ${resource}`);
    return store;
  }

  /** Begins to listen, and to fill the caches; ready when /readyz says so. @returns the port */
  async start(): Promise<number> {
    await this.#audit?.backend.start();
    const certificate = (await this.#certificateFiles?.start()) ?? (await this.#temporaryCertificate());
    const { isFrontProxy, tokenUser } = this.#authentication;
    const { trustedProxyUsers } = this.#config;
    const listener = new Listener({ http1: this.#serve, http2: this.#serve }, certificate, {
      isFrontProxy,
      ...(trustedProxyUsers.length > 0 && { isTrustedProxy: async (rawHeaders) => isOneOf(trustedProxyUsers, await tokenUser(rawHeaders)) }),
      onEnding: (why) => {
        this.metrics.connectionEnded(why);
        if (why !== 'idle') this.#refusals.note(why, {});
      },
    });
    this.#listener = listener;
    this.metrics.observeConnections((kind) => listener.connections(kind));
    this.#authentication.start();
    this.#namespaces.start();
    this.#quotas.start();
    this.servingSecret?.start();
    for (const store of this.#stores.values()) store.start();
    return this.#listener.listen(this.#config.bindAddress, this.#config.port);
  }

  /** Says that it is not ready, serves on for the configured delay, ends watches, and waits for requests under way. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await new Promise((resolve) => setTimeout(resolve, this.#config.shutdownDelaySeconds * 1000));
    const listening = this.#listener?.close(graceMs); // takes no new requests; those under way still have their stores
    for (const store of this.#stores.values()) store.cache.close();
    await listening;
    await this.#audit?.backend.stop(auditGraceMs);
    await Promise.all(this.#kindAdmissions.map(async (admission) => admission.stop?.()));
    await Promise.all([...this.#stores.values()].map((store) => store.stop()));
    await Promise.all([this.#authentication.stop(), this.#namespaces.stop(), this.#quotas.stop(), this.servingSecret?.stop()]);
    this.#certificateFiles?.stop();
    this.client.close();
  }

  /** Undefined when requests can be served, else what is missing. */
  notReady(): string | undefined {
    const faults = this.#readyChecks().flatMap(({ name, check }) => {
      const fault = check();
      return fault === undefined ? [] : [`${name}: ${fault}`];
    });
    return faults.length > 0 ? faults.join('; ') : undefined;
  }

  #serveAll(strategies: readonly Strategy[]): Serve {
    const { authorizer } = delegatedAuthorization({ client: this.client, alwaysAllowPaths: this.#config.alwaysAllowPaths });
    const byResource = new Map(strategies.map((strategy) => [strategy.definition.plural, strategy]));
    const strategyOf = (resource: string): Strategy => byResource.get(resource)!;
    const admission = new AdmissionChain([
      this.#namespaces,
      strategyAdmission(strategyOf),
      names(strategyOf, (namespace, name) => namespace === this.#config.namespace && name === fenceName),
      fieldGate(strategyOf, this.#config.trustedGroups),
      this.#quotas, // after what only judges: it takes a place that only an object that is let in shall have
      ...this.#kindAdmissions,
    ]);
    const scopes = new Map(
      strategies.map(({ definition }): [string, RequestScope] => [
        `${definition.group}/${definition.version}/${definition.plural}`,
        {
          definition,
          kind: { group: definition.group, version: definition.version, kind: definition.kind },
          schema: structuralOf(definition.schema),
          columns: compileColumns(definition),
          store: this.store(definition.plural),
          admission,
          authorizer,
          now: () => new Date(),
        },
      ]),
    );
    const queue = (maxInFlight: number): FairQueue => new FairQueue({ limits: { ...defaultQueueLimits, maxInFlight } });
    const queues = { readOnly: queue(this.#config.maxInFlight), mutating: queue(this.#config.maxMutatingInFlight) };
    this.metrics.observeQueues(queues);
    const handlers = [
      ...chain({ config: this.#config, queues, log: this.#log, refusals: this.#refusals, authentication: this.#authentication, authorizer, metrics: this.metrics, auditing: this.#audit?.auditing }),
      resourceHandler((group, groupVersion, resource) => scopes.get(`${group}/${groupVersion}/${resource}`)),
      healthHandler([{ name: 'ping', check: () => undefined }], this.#readyChecks()),
    ];
    const onError = errorHandler(this.#log, this.#refusals);
    const fail = (error: unknown, request: Request, response: Response): void => void onError(error, request, response, () => undefined);
    // what objects and probes do not need is loaded behind them
    let documents: Promise<Apps> | undefined;
    const loadDocuments = async (): Promise<Apps> => {
      const { documentsApp } = await import('./documents-app.ts');
      return documentsApp(strategies.map(({ definition }) => servedAsCustomResource(definition)), this.metrics.handler(), onError);
    };
    const rest: Serve = (request, response) => {
      documents ??= loadDocuments();
      documents.then(({ http1, http2 }) => (request.httpVersionMajor >= 2 ? http2 : http1)(request, response)).catch((error: unknown) => fail(error, request, response));
    };
    return inTurn(handlers, rest, fail);
  }

  #readyChecks(): HealthCheck[] {
    return [
      { name: 'shutdown', check: () => (this.#stopping ? 'the server is stopping' : undefined) },
      { name: 'authentication', check: () => this.#authentication.ready() },
      { name: 'serving-certificate', check: () => (this.#certificateFiles || this.servingSecret?.current ? undefined : 'no leader has issued the serving certificate yet') },
      ...[...this.#stores.values()].map(({ cache, definition }) => ({
        name: `cache-${definition.plural}`,
        check: () => (cache.complete ? undefined : 'the watch cache is being filled'),
      })),
    ];
  }

  #storeOf({ definition, record, minimalSpec }: Strategy, onError: (error: unknown) => void): Store {
    const { namespace, identity } = this.#config;
    return new RecordStore({ client: this.client, definition, record, namespace, fenceSpec: minimalSpec, identity, onError });
  }

  #admissionsOf({ definition: { plural }, admissions }: Strategy): KindAdmission[] {
    const { namespace, identity, requestTimeoutMs, requireParent } = this.#config;
    const useOf = (inNamespace: string, resource: string): Quantity => this.#quotas.used(inNamespace, resource);
    const storeOf = (resource: string): Store => this.store(resource);
    const own = admissions?.({ client: this.client, store: this.store(plural), storeOf, requireParent, namespace, identity, requestTimeoutMs, useOf }) ?? [];
    return own.map((each) => ({ ...each, handles: (attributes) => attributes.resource === plural && each.handles(attributes) }));
  }

  #useCertificate(certificate: ServingCertificate): void {
    this.#listener?.useCertificate(certificate);
    this.#log.info({}, 'serving with a new certificate');
  }

  #dnsNames(): string[] {
    const { serviceName, namespace } = this.#config;
    return [`${serviceName}.${namespace}.svc`, `${serviceName}.${namespace}.svc.cluster.local`, `${serviceName}.${namespace}`, 'localhost'];
  }

  /** To listen with until the shared one is read; nobody trusts it, and the server is not ready before. */
  async #temporaryCertificate(): Promise<ServingCertificate> {
    const authority = await createAuthority({ commonName: 'tenant-apiserver-temporary' });
    const { certPem, keyPem } = await authority.issue({ commonName: this.#dnsNames()[0]!, dnsNames: this.#dnsNames(), usages: ['server'] });
    return { cert: certPem, key: keyPem };
  }
}

/** Undefined where there is no user to judge by. */
const isOneOf = (usernames: readonly string[], user: UserInfo | undefined): boolean | undefined => user && usernames.includes(user.username);

const audit = ({ policy, log, webhook }: AuditConfig, registry: Registry, ownLog: Log): { auditing: Auditing; backend: Backend } => {
  const metrics = new AuditMetrics(registry, ownLog);
  const backend = createBackends(log, webhook, `tenant-apiserver/${version}`, metrics);
  return { backend, auditing: { evaluate: policyEvaluator(policy), sink: metrics.counting(backend), metrics, clock: microClock() } };
};
