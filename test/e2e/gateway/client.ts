import type { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';

const withinMs = 10_000;

export interface Ask {
  host: string;
  path?: string;
  /** PEM of the authority that the server's certificate has to be of. */
  ca: string;
  /** A connection of its own if left out. */
  agent?: https.Agent;
}

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  /** Undefined over plain HTTP. */
  certificate?: X509Certificate;
}

/** A request over TLS to this machine, as a browser would send it to the host. Rejects where the certificate is not the host's. */
export const ask = ({ host, path = '/', ca, agent }: Ask): Promise<Reply> =>
  reply(https.request({ host: '127.0.0.1', port: 443, path, servername: host, ca, agent: agent ?? false, timeout: withinMs, headers: { host } }));

/** A request over plain HTTP. */
export const askPlain = ({ host, path = '/' }: Pick<Ask, 'host' | 'path'>): Promise<Reply> => reply(http.request({ host: '127.0.0.1', port: 80, path, agent: false, timeout: withinMs, headers: { host } }));

const reply = (request: http.ClientRequest): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request.on('timeout', () => request.destroy(new Error(`no answer within ${withinMs / 1000} s`)));
    request.on('error', reject);
    request.on('response', (response) => {
      const certificate = (response.socket as Partial<TLSSocket>).getPeerX509Certificate?.();
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString(), certificate }));
    });
    request.end();
  });
