import { createBackends } from '../audit/backends.ts';
import { AuditMetrics } from '../audit/metrics.ts';
import { microClock } from '../audit/micro-time.ts';
import { policyEvaluator } from '../audit/policy.ts';
import type { Backend as AuditBackend } from '../audit/sink.ts';
import { configMapSource } from '../authentication/delegation-config.ts';
import type { Log } from '../controller/log.ts';
import { withRequestInfo } from '../endpoints/filters/request-info.ts';
import { sendPlainNotFound, sendStatus, statusOfError } from '../endpoints/respond.ts';
import { KubeClient } from '../kube/client.ts';
import { healthHandler, type HealthCheck } from '../server/health.ts';
import { inTurn, type Serve } from '../server/in-turn.ts';
import { Listener, type Handlers } from '../server/listener.ts';
import { RefusalLog } from '../server/refusal-log.ts';
import { version } from '../server/version.ts';
import { ProxyAudit } from './audit.ts';
import { Backend } from './backend.ts';
import { publicTrust, TrustFile, TrustSecret, type BackendTrust } from './backend-trust.ts';
import { proxyHandler } from './handler.ts';
import { ProxyMetrics } from './metrics.ts';
import { MetricsServer } from './metrics-server.ts';
import type { ProxyConfig } from './options.ts';
import { servingOf, type Serving } from './serving.ts';
import { TokenFile } from './token.ts';
import { FrontTrust } from './trust.ts';

/** How long requests under way may take once the proxy is to stop, and then the audit queue. */
const graceMs = 20_000;
const flushMs = 10_000;

export interface RunningProxy {
  port: number;
  metrics: ProxyMetrics;
  /** Says that it is not ready, ends watches, waits for requests under way, and writes what is left of the audit queue; each bounded in time. */
  stop(): Promise<void>;
}

/** Starts the proxy. @throws Error where whom to trust, the token, or where to write events is not to be had: it would serve nobody */
export const startProxy = async (config: ProxyConfig, log: Log): Promise<RunningProxy> => {
  const proxy = new AuditProxy(config, log);
  try {
    return { port: await proxy.start(), metrics: proxy.metrics, stop: () => proxy.stop() };
  } catch (error) {
    await proxy.stop();
    throw error;
  }
};

class AuditProxy {
  readonly metrics = new ProxyMetrics();
  readonly #config: ProxyConfig;
  readonly #log: Log;
  readonly #refusals: RefusalLog;
  readonly #client: KubeClient;
  readonly #trust: FrontTrust;
  readonly #token: TokenFile;
  readonly #backendTrust: BackendTrust;
  readonly #backend: Backend;
  readonly #auditBackend: AuditBackend;
  readonly #auditMetrics: AuditMetrics;
  readonly #ending = new AbortController();
  readonly #metricsServer: MetricsServer;
  #serving: Serving | undefined;
  #listener: Listener | undefined;
  #stopping = false;

  constructor(config: ProxyConfig, log: Log) {
    const { backend, audit } = config;
    this.#config = config;
    this.#log = log;
    this.#refusals = new RefusalLog(log);
    this.#client = new KubeClient(config.host, `audit-proxy/${version}`);
    this.#trust = new FrontTrust(configMapSource(this.#client), (fault) => log.warn({ fault }, 'reading whom to trust as the front failed'));
    this.#token = new TokenFile(backend.tokenFile);
    this.#backendTrust = this.#trustInBackend();
    this.#backend = new Backend({ url: backend.url, serverName: backend.tls.serverName, insecureSkipVerify: backend.tls.insecureSkipVerify, trust: this.#backendTrust });
    this.#metricsServer = new MetricsServer(this.metrics.registry);
    this.#auditMetrics = new AuditMetrics(this.metrics.registry, log);
    this.#auditBackend = createBackends(audit.log, audit.webhook, `audit-proxy/${version}`, this.#auditMetrics);
  }

  async start(): Promise<number> {
    const { bindAddress, port } = this.#config.server;
    if (this.#config.backend.tls.insecureSkipVerify) {
      this.#log.warn({ backend: this.#config.backend.url.host }, "backend.tls.insecureSkipVerify is on: whoever takes the backend's place gets this proxy's token, and may then be anybody whom it may impersonate");
    }
    await Promise.all([this.#token.start(), this.#backendTrust.start(), this.#auditBackend.start(), this.#trust.start()]);
    this.#serving = servingOf(this.#config.server, this.#client, this.#log, (certificate) => this.#listener?.useCertificate(certificate));
    const listener = new Listener(this.#handlers(), await this.#serving.start(), {
      isFrontProxy: (peer) => this.#trust.isFrontProxy(peer),
      onEnding: (why) => {
        this.metrics.connectionEnded(why);
        if (why !== 'idle') this.#refusals.note(why, {});
      },
    });
    this.#trust.onChange = () => listener.reconsider();
    this.#listener = listener;
    await this.#metricsServer.listen(this.#config.metrics.bindAddress, this.#config.metrics.port);
    const taken = await listener.listen(bindAddress, port);
    this.#log.info({ port: taken, address: bindAddress, backend: this.#config.backend.url.host }, 'listening');
    return taken;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#listener) await new Promise((resolve) => setTimeout(resolve, this.#config.server.shutdownDelaySeconds * 1000));
    const closed = this.#listener?.close(graceMs);
    this.#ending.abort();
    await closed;
    await this.#auditBackend.stop(flushMs);
    await Promise.all([this.#trust.stop(), this.#backendTrust.stop(), this.#serving?.stop()]);
    this.#token.stop();
    this.#metricsServer.close();
    this.#backend.close();
    this.#client.close();
  }

  #trustInBackend(): BackendTrust {
    const { caFile, caSecretName } = this.#config.backend.tls;
    const onError = (error: unknown): void => this.#log.warn({ err: error }, "reading the backend's certificate authority failed; it is tried again");
    if (caFile) return new TrustFile(caFile, onError);
    return caSecretName ? new TrustSecret({ client: this.#client, namespace: this.#config.server.namespace, name: caSecretName, onError }) : publicTrust;
  }

  #handlers(): Handlers {
    const { audit, backend, maxBodyBytes } = this.#config;
    const evaluate = policyEvaluator(audit.policy);
    const proxied = proxyHandler({
      trust: this.#trust,
      token: this.#token,
      projection: backend.projection,
      backend: this.#backend,
      audit: new ProxyAudit({
        evaluate: (attributes) => {
          const found = evaluate(attributes);
          this.#auditMetrics.level(found.level);
          return found;
        },
        sink: this.#auditMetrics.counting(this.#auditBackend),
        clock: microClock(),
        maxBodyBytes,
        onUnrecorded: (body) => this.metrics.unrecorded(body),
      }),
      metrics: this.metrics,
      stopping: this.#ending.signal,
      timeoutMs: backend.responseTimeoutMs,
      log: this.#log,
      refusals: this.#refusals,
    });
    const health = inTurn(
      [withRequestInfo(), healthHandler([{ name: 'ping', check: () => undefined }], this.#readyChecks())],
      (_request, response) => sendPlainNotFound(response),
      (error, request, response) => sendStatus(request, response, statusOfError(error)),
    );
    const serve: Serve = (request, response) => (isHealth(request.url) ? health(request, response) : proxied(request as never, response as never));
    return { http1: serve, http2: serve };
  }

  #readyChecks(): HealthCheck[] {
    return [
      { name: 'shutdown', check: () => (this.#stopping ? 'the proxy is stopping' : undefined) },
      { name: 'front-trust', check: () => this.#trust.fault() },
      { name: 'token', check: () => this.#token.fault() },
      { name: 'backend-trust', check: () => this.#backendTrust.fault() },
      { name: 'serving-certificate', check: () => this.#serving?.fault() },
    ];
  }
}

/** What kubelets ask: open to whoever can reach it. Nothing here could be taken for another path. */
const isHealth = (url: string): boolean => /^\/(?:healthz|livez|readyz)(?:\/[a-z-]+)?(?:\?|$)/.test(url);
