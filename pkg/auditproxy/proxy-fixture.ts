import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Event } from '../audit/event.ts';
import { microClock } from '../audit/micro-time.ts';
import { policyEvaluator, type Policy } from '../audit/policy.ts';
import type { Sink } from '../audit/sink.ts';
import { makeAuthority, makeCertificate, makeClient, serverAuth, type Fixture } from '../authentication/certificate-fixtures.ts';
import type { ConfigMapSource } from '../authentication/delegation-config.ts';
import { Listener } from '../server/listener.ts';
import { RefusalLog } from '../server/refusal-log.ts';
import { ProxyAudit } from './audit.ts';
import { Backend } from './backend.ts';
import { defaultPolicy } from './default-policy.ts';
import { proxyHandler } from './handler.ts';
import type { Projection } from './identity.ts';
import { ProxyMetrics } from './metrics.ts';
import { FrontTrust } from './trust.ts';

const authority = makeAuthority();
const serving = makeCertificate({ commonName: 'localhost', issuer: authority, usages: [serverAuth], extensions: [] });

/** Certificates of who may and who may not be the front. */
export const fronts = {
  trusted: makeClient(authority, { commonName: 'front' }),
  wrongName: makeClient(authority, { commonName: 'somebody' }),
  wrongUsage: makeCertificate({ commonName: 'front', issuer: authority, usages: [serverAuth] }),
  expired: makeClient(authority, { commonName: 'front', notAfter: new Date(Date.now() - 1000) }),
  otherAuthority: makeClient(makeAuthority(), { commonName: 'front' }),
};

const configMap: ConfigMapSource = (handler) => ({
  start: () =>
    handler.replace([{
      apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
      data: {
        'requestheader-client-ca-file': authority.certPem,
        'requestheader-allowed-names': '["front"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      },
    } as never], '1'),
  stop: () => Promise.resolve(),
});

/** What the backend does with a request. */
export type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** A proxy on loopback between a front and a backend, both in the test's hands. */
export class ProxyFixture {
  readonly metrics = new ProxyMetrics();
  readonly events: Event[] = [];
  readonly token = { current: 'proxy-token' };
  readonly projection: { -readonly [K in keyof Projection]: Projection[K] } = { forwardUid: true, extras: { mode: 'all', allowlist: new Set() } };
  readonly logged: string[] = [];
  readonly ending = new AbortController();
  answer: Answer = (_request, response) => response.end();
  sink: Sink = { process: (event) => this.events.push(event) > 0 };
  policy: Policy = defaultPolicy;
  timeoutMs = 20_000;
  maxBodyBytes = 100_000;
  port = 0;
  backendPort = 0;
  readonly #sessions: ClientHttp2Session[] = [];
  #backendServer: Http2SecureServer | undefined;
  #backend: Backend | undefined;
  #listener: Listener | undefined;
  #trust: FrontTrust | undefined;

  async start(): Promise<void> {
    const server = http2.createSecureServer({ cert: serving.certPem, key: serving.keyPem, allowHTTP1: true, maxHeaderListPairs: 4096, settings: { maxHeaderListSize: 1 << 20 } });
    server.on('request', (request, response) => {
      request.on('error', () => undefined); // answers break off on purpose
      this.answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#backendServer = server;
    this.backendPort = (server.address() as AddressInfo).port;
    await this.restart();
  }

  get backendServer(): Http2SecureServer {
    return this.#backendServer!;
  }

  /** A proxy with the options as they are now, in front of the same backend. */
  async restart(): Promise<void> {
    await this.#stopProxy();
    const trust = new FrontTrust(configMap, () => undefined);
    await trust.start();
    const backendTrust = { current: undefined, start: () => Promise.resolve(), stop: () => Promise.resolve(), fault: () => undefined };
    const backend = new Backend({ url: new URL(`https://127.0.0.1:${this.backendPort}`), serverName: '', insecureSkipVerify: true, trust: backendTrust });
    const write = (fields: object, text: string): void => void this.logged.push(`${text} ${JSON.stringify(fields)}`);
    const log = { debug: write, info: write, warn: write, error: write };
    const handler = proxyHandler({
      trust,
      token: this.token,
      projection: this.projection,
      backend,
      audit: new ProxyAudit({
        evaluate: policyEvaluator(this.policy),
        sink: { process: (event) => this.sink.process(event) },
        clock: microClock(),
        maxBodyBytes: this.maxBodyBytes,
        onUnrecorded: (body) => this.metrics.unrecorded(body),
      }),
      metrics: this.metrics,
      stopping: this.ending.signal,
      timeoutMs: this.timeoutMs,
      log,
      refusals: new RefusalLog(log),
    });
    const listener = new Listener({ http1: handler as never, http2: handler as never }, { cert: serving.certPem, key: serving.keyPem }, { isFrontProxy: (peer) => trust.isFrontProxy(peer) });
    this.port = await listener.listen('127.0.0.1', 0);
    this.#backend = backend;
    this.#listener = listener;
    this.#trust = trust;
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await this.#stopProxy();
    this.#backendServer?.close();
  }

  async #stopProxy(): Promise<void> {
    this.#backend?.close();
    await this.#trust?.stop();
    await this.#listener?.close(0);
  }

  /** TLS options of a client of the proxy. */
  tls(certificate: Fixture | undefined = fronts.trusted): { host: string; port: number; rejectUnauthorized: false; cert?: string; key?: string } {
    return { host: '127.0.0.1', port: this.port, rejectUnauthorized: false, ...(certificate && { cert: certificate.certPem, key: certificate.keyPem }) };
  }

  /** A request over HTTP/2 on a connection of its own. `certificate` null: none. */
  open(headers: Record<string, string | string[]>, certificate: Fixture | null = fronts.trusted): ClientHttp2Stream {
    const session = http2.connect(`https://127.0.0.1:${this.port}`, { ...this.tls(certificate ?? ({} as Fixture)), maxSendHeaderBlockLength: 1 << 20 });
    session.on('error', () => undefined);
    this.#sessions.push(session);
    const stream = session.request({ 'x-remote-user': 'alice', ...headers }, { endStream: ['GET', undefined].includes(headers[':method'] as string) });
    stream.on('error', () => undefined);
    return stream;
  }

  async ask(headers: Record<string, string | string[]>, { body, certificate }: { body?: string | Buffer; certificate?: Fixture | null } = {}): Promise<{ status: number; headers: IncomingHttpHeaders; trailers: IncomingHttpHeaders; text: string; complete: boolean }> {
    const stream = this.open(headers, certificate);
    if (!stream.writableEnded) stream.end(body);
    let received: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let ended = false;
    const chunks: Buffer[] = [];
    stream.on('response', (answered) => (received = answered));
    stream.on('trailers', (came) => (trailers = came));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => (ended = true));
    await new Promise((resolve) => stream.once('close', resolve));
    return { status: Number(received[':status'] ?? 0), headers: received, trailers, text: Buffer.concat(chunks).toString(), complete: ended && stream.rstCode === 0 };
  }

  async metric(name: string): Promise<number> {
    const line = (await this.metrics.registry.metrics()).split('\n').find((text) => text.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1) ?? NaN);
  }
}
