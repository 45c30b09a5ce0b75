import https from 'node:https';
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
