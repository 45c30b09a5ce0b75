import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { Status } from '../../api/meta/v1/types.ts';
import type { RestConfig } from './config.ts';
import { Deadline } from './deadline.ts';
import { LineQueue } from './line-queue.ts';
import { StatusError } from './status-error.ts';
import { ConnectionError, Transport, type Exchange, type ResponseSink } from './transport.ts';

export type Query = Record<string, string | readonly string[] | number | boolean | undefined>;

/** A request to the kube-apiserver. `path` is absolute and escaped; objects in `body` are sent as JSON. */
export interface KubeRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query | URLSearchParams;
  headers?: Record<string, string | undefined>;
  body?: Buffer | string | object;
  contentType?: string;
  /** Milliseconds until the answer must be whole; 30,000 where absent. Streams have no limit once the head has come. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface KubeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A successful response that is read as it comes; `close` cancels it. Lines are whole, without the line feed. */
export interface KubeStream {
  headers: IncomingHttpHeaders;
  lines: AsyncIterable<Buffer>;
  close(): void;
}

const defaultTimeoutMs = 30_000;

/** The kube-apiserver over HTTP/2. Nothing is cached; a request that was surely not processed is sent once more. */
export class KubeClient {
  readonly #config: RestConfig;
  readonly #transport: Transport;
  readonly #userAgent: string;
  readonly #basePath: string;

  constructor(config: RestConfig, userAgent = 'tenant-apiserver') {
    this.#config = config;
    this.#transport = new Transport(config);
    this.#userAgent = userAgent;
    this.#basePath = config.server.pathname.replace(/\/+$/, '');
  }

  get server(): URL {
    return this.#config.server;
  }

  /**
   * Any HTTP status is an answer.
   * @throws StatusError 503 where no answer could be had
   */
  async request(request: KubeRequest): Promise<KubeResponse> {
    const timeout = new Deadline(request.timeoutMs ?? defaultTimeoutMs, request.signal);
    try {
      return await this.#retried((sent) => this.#exchange(sent, timeout.signal), request, timeout.signal);
    } catch (error) {
      throw this.#asStatus(error, request, timeout);
    } finally {
      timeout.release();
    }
  }

  /**
   * The decoded body of a successful answer.
   * @throws StatusError the Status that the kube-apiserver gave, or 503
   */
  async json<T>(request: KubeRequest): Promise<T> {
    const { status, body } = await this.request(request);
    if (status >= 400) throw statusOf(status, body);
    return JSON.parse(body.toString('utf8')) as T;
  }

  /**
   * Opens a response to read line by line (watches).
   * @throws StatusError as json does, before the first line
   */
  async stream(request: KubeRequest): Promise<KubeStream> {
    const head = new Deadline(request.timeoutMs ?? defaultTimeoutMs, request.signal);
    try {
      return await this.#retried((sent) => this.#open(sent, head), request, head.signal);
    } catch (error) {
      throw this.#asStatus(error, request, head);
    } finally {
      head.clear(); // from now on only the caller's signal ends it
    }
  }

  close(): void {
    this.#transport.close();
  }

  #exchange(sent: SentRequest, signal: AbortSignal): Promise<KubeResponse> {
    return new Promise((resolve, reject) => {
      const response: KubeResponse = { status: 0, headers: {}, body: empty };
      const chunks: Buffer[] = [];
      const sink: ResponseSink = {
        head: (status, headers) => Object.assign(response, { status, headers }),
        data: (chunk) => void chunks.push(chunk),
        end: () => {
          response.body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
          resolve(response);
        },
        fail: reject,
      };
      this.#transport.send(sent.headers, sent.body, sink, signal).catch(reject);
    });
  }

  #open(sent: SentRequest, head: Deadline): Promise<KubeStream> {
    return new Promise((resolve, reject) => {
      const lines = new LineQueue();
      let exchange: Exchange | undefined;
      let failed: Buffer[] | undefined;
      let code = 0;
      const sink: ResponseSink = {
        head: (status, headers) => {
          code = status;
          if (status >= 400) failed = [];
          else resolve({ headers, lines, close: () => exchange?.cancel() });
        },
        data: (chunk) => {
          if (failed) failed.push(chunk);
          else if (lines.push(chunk)) exchange?.pause();
        },
        end: () => {
          if (failed) reject(statusOf(code, Buffer.concat(failed)));
          else lines.end();
        },
        fail: (error) => {
          reject(error);
          lines.end(error);
        },
      };
      lines.onDrained = () => exchange?.resume();
      this.#transport.send(sent.headers, sent.body, sink, head.signal).then((opened) => (exchange = opened), reject);
    });
  }

  /** Sends a request; once more where it was surely not processed. */
  async #retried<T>(attempt: (sent: SentRequest) => Promise<T>, request: KubeRequest, signal: AbortSignal): Promise<T> {
    const sent = await this.#prepare(request);
    try {
      return await attempt(sent);
    } catch (error) {
      if (!(error instanceof ConnectionError && error.unprocessed) || signal.aborted) throw error;
      return attempt(sent);
    }
  }

  async #prepare(request: KubeRequest): Promise<SentRequest> {
    const token = await this.#config.token();
    const body = request.body === undefined || typeof request.body === 'string' || Buffer.isBuffer(request.body) ? request.body : JSON.stringify(request.body);
    return {
      body,
      headers: {
        'user-agent': this.#userAgent,
        accept: 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
        ...request.headers,
        ':method': request.method ?? 'GET',
        ':path': this.#basePath + pathWithQuery(request),
      },
    };
  }

  #asStatus(error: unknown, request: KubeRequest, timeout: Deadline): unknown {
    if (error instanceof StatusError) return error;
    if (request.signal?.aborted) return error;
    const what = `${request.method ?? 'GET'} ${request.path}`;
    if (timeout.passed) return new StatusError(504, 'Timeout', `the kube-apiserver did not answer ${what} in time`, { retryAfterSeconds: 1 }, error);
    return StatusError.unavailable('the kube-apiserver cannot be reached; try again', error);
  }
}

interface SentRequest {
  headers: OutgoingHttpHeaders;
  body: Buffer | string | undefined;
}

const empty = Buffer.alloc(0);

const pathWithQuery = ({ path, query }: KubeRequest): string => {
  if (!query) return path;
  const parameters = query instanceof URLSearchParams ? query : searchParams(query);
  return parameters.size > 0 ? `${path}?${parameters.toString()}` : path;
};

const searchParams = (query: Query): URLSearchParams => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value as readonly string[]) parameters.append(name, item);
    else if (value !== undefined) parameters.append(name, String(value as string | number | boolean));
  }
  return parameters;
};

/** The error of an unsuccessful answer: its own Status where it is one. */
export const statusOf = (code: number, body: Buffer): StatusError => {
  const text = body.toString('utf8');
  try {
    const parsed = JSON.parse(text) as Status;
    if (parsed.kind === 'Status') return StatusError.of({ ...parsed, code: parsed.code ?? code });
  } catch {
    // not JSON: the text itself is the message
  }
  return new StatusError(code, code === 503 ? 'ServiceUnavailable' : '', text.trim() || `the kube-apiserver answered ${code}`);
};

/** The texts of an answer's `Warning` headers (RFC 9111 5.5), which may stand together in one line. */
export const warningsOf = ({ warning }: IncomingHttpHeaders): string[] =>
  [...String(warning ?? '').matchAll(/\b\d{3} [^ "]+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted]) => quoted!.replaceAll(/\\(.)/g, '$1'));
