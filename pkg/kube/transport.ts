import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { Writable } from 'node:stream';
import type { RestConfig } from './config.ts';

/** What becomes of one request. Everything is told as it comes, in order: head, data, and one of end and fail. */
export interface ResponseSink {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** An answer before the answer (1xx). */
  informational?(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  trailers?(headers: IncomingHttpHeaders): void;
  end(): void;
  /** A ConnectionError, or the reason of the signal. */
  fail(error: Error): void;
}

/** What a request sends after its head: all of it, or a function that writes it to the end as it comes. */
export type RequestBody = Buffer | string | ((stream: Writable) => void);

/** A request under way. */
export interface Exchange {
  /** Cancels it; a no-op once it is over. */
  cancel(): void;
  pause(): void;
  resume(): void;
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
/** What a server may send on a stream before it is read. Large, so that a list comes in one go. */
const streamWindow = 4 << 20;

/** HTTP/2 connections to one server: opened as needed, spread by load, dropped when they stop answering pings. */
export class Transport {
  readonly #config: RestConfig;
  readonly #window: number;
  readonly #sessions = new Set<PooledSession>();
  #connecting: Promise<PooledSession> | undefined;
  #closed = false;

  /** @param window bytes that may wait on a stream that is not read */
  constructor(config: RestConfig, window = streamWindow) {
    this.#config = config;
    this.#window = window;
  }

  /**
   * Sends a request and feeds the sink.
   * @throws ConnectionError where it could not be sent; the signal's reason where it was aborted before
   */
  async send(headers: OutgoingHttpHeaders, body: RequestBody | undefined, sink: ResponseSink, signal?: AbortSignal): Promise<Exchange> {
    const session = this.#withRoom() ?? (await this.#connect());
    signal?.throwIfAborted();
    return session.send(headers, body, sink, signal);
  }

  /** Ends every connection; requests under way fail. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.destroy();
    this.#sessions.clear();
  }

  /** The fullest connection that has room: fewer connections stay in use. */
  #withRoom(): PooledSession | undefined {
    let best: PooledSession | undefined;
    for (const session of this.#sessions) {
      if (session.usable && session.open < streamsPerSession && (!best || session.open > best.open)) best = session;
    }
    return best;
  }

  /** One connection is opened at a time: a burst waits for it instead of opening many. */
  #connect(): Promise<PooledSession> {
    if (this.#closed) return Promise.reject(new ConnectionError('the client is closed', true));
    this.#connecting ??= openSession(this.#config, this.#window)
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

const openSession = (config: RestConfig, window: number): Promise<ClientHttp2Session> =>
  new Promise((resolve, reject) => {
    const session = http2.connect(config.server, {
      ca: config.ca,
      cert: config.cert,
      key: config.key,
      servername: config.serverName ?? (isAddress(config.server.hostname) ? '' : config.server.hostname),
      rejectUnauthorized: !config.insecureSkipVerify,
      ALPNProtocols: ['h2'],
      settings: { enablePush: false, initialWindowSize: window },
      maxSessionMemory: 1000,
      maxSendHeaderBlockLength: 1 << 20, // of a user with a thousand groups
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

  /** Listeners are set before anything can arrive: an answer that is complete in one packet must not be missed. */
  send(headers: OutgoingHttpHeaders, body: RequestBody | undefined, sink: ResponseSink, signal?: AbortSignal): Exchange {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(headers, { endStream: body === undefined });
    } catch (error) {
      this.#retire();
      throw new ConnectionError(`cannot send: ${(error as Error).message}`, true, error);
    }
    this.open += 1;
    let failure: Error | undefined;
    let ended = false;
    const cancel = (): void => stream.close(http2.constants.NGHTTP2_CANCEL);
    signal?.addEventListener('abort', cancel, { once: true });
    stream.on('error', (error) => (failure = error));
    stream.on('response', (received) => sink.head(received[':status'] ?? 0, received));
    if (sink.informational) stream.on('headers', (received) => sink.informational?.(received[':status'] ?? 0, received));
    if (sink.trailers) stream.on('trailers', (received) => sink.trailers?.(received));
    stream.on('data', (chunk: Buffer) => sink.data(chunk));
    stream.on('end', () => {
      ended = !stream.aborted && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
      if (ended) sink.end();
    });
    stream.on('close', () => {
      this.open -= 1;
      signal?.removeEventListener('abort', cancel);
      if (ended) return;
      const refused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
      if (signal?.aborted) sink.fail(signal.reason as Error);
      else sink.fail(new ConnectionError(failure?.message ?? `the connection was closed before the answer was whole (HTTP/2 code ${stream.rstCode})`, refused || isGoaway(failure), failure));
    });
    if (typeof body === 'function') body(stream);
    else if (body !== undefined) stream.end(body);
    return { cancel, pause: () => void stream.pause(), resume: () => void stream.resume() };
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
