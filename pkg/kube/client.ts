import type { IncomingHttpHeaders } from 'node:http2';
import type { Status } from '../../api/meta/v1/types.ts';
import type { RestConfig } from './config.ts';
import { StatusError } from './status-error.ts';
import { ConnectionError, Transport, type OpenResponse } from './transport.ts';

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
    const timeout = AbortSignal.timeout(request.timeoutMs ?? defaultTimeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
    try {
      const response = await this.#send(request, signal);
      return { status: response.status, headers: response.headers, body: await bodyOf(response) };
    } catch (error) {
      throw this.#asStatus(error, request, timeout);
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
    const headTimeout = new AbortController();
    const timer = setTimeout(() => headTimeout.abort(new Error('no answer in time')), request.timeoutMs ?? defaultTimeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, headTimeout.signal]) : headTimeout.signal;
    try {
      const response = await this.#send(request, signal);
      if (response.status >= 400) throw statusOf(response.status, await bodyOf(response));
      const { stream } = response;
      return { headers: response.headers, lines: linesOf(stream), close: () => stream.destroy() };
    } catch (error) {
      throw this.#asStatus(error, request, headTimeout.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#transport.close();
  }

  async #send(request: KubeRequest, signal: AbortSignal): Promise<OpenResponse> {
    const token = await this.#config.token();
    const body = request.body === undefined || typeof request.body === 'string' || Buffer.isBuffer(request.body) ? request.body : JSON.stringify(request.body);
    const headers = {
      'user-agent': this.#userAgent,
      accept: 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
      ...request.headers,
      ':method': request.method ?? 'GET',
      ':path': this.#basePath + pathWithQuery(request),
    };
    try {
      return await this.#transport.send(headers, body, signal);
    } catch (error) {
      if (!(error instanceof ConnectionError && error.unprocessed) || signal.aborted) throw error;
      return this.#transport.send(headers, body, signal);
    }
  }

  #asStatus(error: unknown, request: KubeRequest, timeout: AbortSignal): unknown {
    if (error instanceof StatusError) return error;
    if (request.signal?.aborted) return error;
    const what = `${request.method ?? 'GET'} ${request.path}`;
    if (timeout.aborted) return new StatusError(504, 'Timeout', `the kube-apiserver did not answer ${what} in time`, { retryAfterSeconds: 1 }, error);
    return StatusError.unavailable('the kube-apiserver cannot be reached; try again', error);
  }
}

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

const bodyOf = async ({ stream }: OpenResponse): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  if (stream.rstCode !== 0) throw new ConnectionError(`the answer was cut off (HTTP/2 code ${stream.rstCode})`, false);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
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

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = chunk.subarray(start, end);
      yield pending.length > 0 ? Buffer.concat([...pending, line]) : line;
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield Buffer.concat(pending);
}
