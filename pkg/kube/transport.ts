import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { RestConfig } from './config.ts';

/** A response whose body is still on its way; `stream` is readable and closing it cancels the request. */
export interface OpenResponse {
  status: number;
  headers: IncomingHttpHeaders;
  stream: ClientHttp2Stream;
}

/** The request did not reach the server or no answer came: nothing is known of its effect unless `unprocessed`. */
export class ConnectionError extends Error {
  readonly unprocessed: boolean;
  constructor(message: string, unprocessed: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionError';
    this.unprocessed = unprocessed;
  }
}

/** The kube-apiserver takes 100 streams on a connection (`--http2-max-streams-per-connection`); a few are kept free for short requests. */
const streamsPerSession = 90;
const connectTimeoutMs = 10_000;
const pingIntervalMs = 15_000;
const pingTimeoutMs = 10_000;

/** HTTP/2 connections to one server: opened as needed, spread by load, dropped when they stop answering pings. */
export class Transport {
  readonly #config: RestConfig;
  readonly #sessions = new Set<PooledSession>();
  #connecting: Promise<PooledSession> | undefined;
  #closed = false;

  constructor(config: RestConfig) {
    this.#config = config;
  }

  /**
   * Sends a request; resolves with the response's head.
   * @throws ConnectionError
   */
  async send(headers: OutgoingHttpHeaders, body: Buffer | string | undefined, signal?: AbortSignal): Promise<OpenResponse> {
    const session = await this.#session();
    signal?.throwIfAborted();
    return session.send(headers, body, signal);
  }

  /** Ends every connection; requests under way fail. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.destroy();
    this.#sessions.clear();
  }

  async #session(): Promise<PooledSession> {
    if (this.#closed) throw new ConnectionError('the client is closed', true);
    let best: PooledSession | undefined;
    for (const session of this.#sessions) {
      if (session.usable && session.open < streamsPerSession && (!best || session.open > best.open)) best = session;
    }
    return best ?? this.#connect();
  }

  /** One connection is opened at a time: a burst waits for it instead of opening many. */
  #connect(): Promise<PooledSession> {
    this.#connecting ??= openSession(this.#config)
      .then((session) => {
        if (this.#closed) {
          session.destroy();
          throw new ConnectionError('the client is closed', true);
        }
        const pooled = new PooledSession(session, () => this.#sessions.delete(pooled));
        this.#sessions.add(pooled);
        return pooled;
      })
      .finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }
}

const openSession = (config: RestConfig): Promise<ClientHttp2Session> =>
  new Promise((resolve, reject) => {
    const session = http2.connect(config.server, {
      ca: config.ca,
      cert: config.cert,
      key: config.key,
      servername: config.serverName ?? (isAddress(config.server.hostname) ? '' : config.server.hostname),
      rejectUnauthorized: !config.insecureSkipVerify,
      ALPNProtocols: ['h2'],
      settings: { enablePush: false, initialWindowSize: 4 << 20 },
      maxSessionMemory: 1000,
    });
    const timer = setTimeout(() => session.destroy(new Error(`no connection within ${connectTimeoutMs} ms`)), connectTimeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(new ConnectionError(`cannot connect to ${config.server.host}: ${error.message}`, true, error));
    };
    session.once('error', fail);
    session.once('connect', () => {
      clearTimeout(timer);
      session.off('error', fail);
      session.setLocalWindowSize(16 << 20);
      resolve(session);
    });
  });

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

class PooledSession {
  readonly #session: ClientHttp2Session;
  readonly #gone: () => void;
  readonly #pings: NodeJS.Timeout;
  open = 0;
  usable = true;

  constructor(session: ClientHttp2Session, gone: () => void) {
    this.#session = session;
    this.#gone = gone;
    session.on('error', () => this.#retire()); // its streams report the error to whoever waits on them
    session.on('goaway', () => this.#retire());
    session.on('close', () => this.#retire());
    this.#pings = setInterval(() => this.#ping(), pingIntervalMs);
    this.#pings.unref();
  }

  send(headers: OutgoingHttpHeaders, body: Buffer | string | undefined, signal?: AbortSignal): Promise<OpenResponse> {
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      try {
        stream = this.#session.request(headers, { endStream: body === undefined });
      } catch (error) {
        this.#retire();
        reject(new ConnectionError(`cannot send: ${(error as Error).message}`, true, error));
        return;
      }
      this.open += 1;
      let failure: Error | undefined;
      const abort = (): void => stream.close(http2.constants.NGHTTP2_CANCEL);
      signal?.addEventListener('abort', abort, { once: true });
      stream.on('error', (error) => (failure = error));
      stream.once('close', () => {
        this.open -= 1;
        signal?.removeEventListener('abort', abort);
        const refused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
        if (signal?.aborted) reject(signal.reason as Error);
        else reject(new ConnectionError(failure?.message ?? 'the connection was closed before an answer came', refused || isGoaway(failure), failure));
      });
      stream.once('response', (received) => resolve({ status: received[':status'] ?? 0, headers: received, stream }));
      if (body !== undefined) stream.end(body);
    });
  }

  destroy(): void {
    this.#retire();
    this.#session.destroy();
  }

  #ping(): void {
    if (this.#session.destroyed) return;
    const timer = setTimeout(() => this.#session.destroy(new Error(`no answer to a ping within ${pingTimeoutMs} ms`)), pingTimeoutMs);
    timer.unref();
    try {
      this.#session.ping(() => clearTimeout(timer));
    } catch {
      clearTimeout(timer); // the session is closing: its close event follows
    }
  }

  /** Takes no new requests; what is under way goes on. */
  #retire(): void {
    if (!this.usable) return;
    this.usable = false;
    clearInterval(this.#pings);
    this.#gone();
    if (!this.#session.destroyed) this.#session.close();
  }
}

const isGoaway = (error: Error | undefined): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP2_GOAWAY_SESSION';
