import https from 'node:https';
import { WebSocket } from 'ws';
import type { IncomingHttpHeaders } from 'node:http';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';

export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Of a server on this machine; the kube-apiserver if left out. */
  port?: number;
  /** Waits until this many lines came, and breaks off then. */
  lines?: number;
  /** Told once the head of the answer is there. */
  onHead?: () => void;
}

export interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Header lines as they came, for those that may come several times. */
  rawHeaders: string[];
  bytes: Buffer;
  /** Of a WebSocket. */
  messages?: { data: Buffer; binary: boolean }[];
}

const timeoutMs = 30_000;

/** Requests of the administrator over connections that are kept. */
export class Wire {
  readonly #url: string;
  readonly #agents: { front: https.Agent; direct: https.Agent };

  constructor({ url, caPem, admin }: ControlPlane) {
    const identity = { cert: admin.certPem, key: admin.keyPem };
    this.#url = url;
    this.#agents = {
      front: new https.Agent({ ...identity, ca: caPem, keepAlive: true }),
      direct: new https.Agent({ ...identity, rejectUnauthorized: false, keepAlive: true }),
    };
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** A watch over WebSocket; its messages until it ends, or until so many came. */
  webSocket({ path, headers, lines, onHead }: WireRequest, protocols: readonly string[]): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      const { cert, key, ca } = this.#agents.front.options;
      const url = new URL(path, this.#url.replace('https:', 'wss:'));
      const socket = new WebSocket(url, [...protocols], { cert, key, ca, headers, perMessageDeflate: false, handshakeTimeout: timeoutMs });
      const answer: WireAnswer = { status: 101, headers: {}, rawHeaders: [], bytes: Buffer.alloc(0), messages: [] };
      socket.once('upgrade', ({ headers: given }) => {
        answer.headers = { 'sec-websocket-protocol': given['sec-websocket-protocol'] };
        onHead?.();
      });
      socket.on('message', (data: Buffer, binary: boolean) => {
        answer.messages!.push({ data, binary });
        if (answer.messages!.length === lines) socket.close();
      });
      socket.once('close', () => resolve(answer));
      socket.once('unexpected-response', (_request, response) => {
        const chunks: Buffer[] = [];
        onHead?.();
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, rawHeaders: response.rawHeaders, bytes: Buffer.concat(chunks) }));
      });
      socket.once('error', (error) => (socket.readyState === WebSocket.CLOSED ? undefined : reject(error)));
    });
  }

  send({ method, path, headers, body, port, lines, onHead }: WireRequest): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      const url = new URL(path, port === undefined ? this.#url : `https://127.0.0.1:${port}`);
      const agent = port === undefined ? this.#agents.front : this.#agents.direct;
      const request = https.request(url, { method, agent, timeout: timeoutMs, headers: { ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }), ...headers } });
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let seen = 0;
        const done = (): void => resolve({ status: response.statusCode ?? 0, headers: response.headers, rawHeaders: response.rawHeaders, bytes: Buffer.concat(chunks) });
        onHead?.();
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (lines === undefined) return;
          for (const byte of chunk) if (byte === 0x0a) seen += 1;
          if (seen < lines) return;
          done();
          request.destroy();
        });
        response.once('end', done);
        response.once('error', (error) => (response.complete ? undefined : reject(error)));
      });
      request.once('timeout', () => request.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs / 1000} s`)));
      request.once('error', reject);
      request.end(body);
    });
  }
}
