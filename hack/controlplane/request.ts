import https from 'node:https';
import http from 'node:http';

/** How a request identifies itself: a client certificate, a bearer token, or nothing. */
export type Credentials = { certPem: string; keyPem: string } | { token: string } | { anonymous: true };

export interface Call {
  method?: string;
  /** Path and query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  /** The body parsed as JSON; throws SyntaxError if it is something else. */
  json<T = any>(): T;
}

export interface Target {
  url: string;
  caPem?: string;
  /** For a server on loopback that made its own certificate. */
  trustAnyServer?: boolean;
  credentials: Credentials;
}

/** One request over a connection of its own, so that a stopped server is never mistaken for a kept-alive one. */
export const call = ({ url, caPem, trustAnyServer, credentials }: Target, { method = 'GET', path, body, headers = {} }: Call): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const target = new URL(path, url);
    const options: https.RequestOptions = {
      method,
      agent: false,
      ca: caPem,
      rejectUnauthorized: !trustAnyServer,
      timeout: 30_000,
      ...('certPem' in credentials ? { cert: credentials.certPem, key: credentials.keyPem } : {}),
      headers: {
        accept: 'application/json',
        ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
        ...('token' in credentials ? { authorization: `Bearer ${credentials.token}` } : {}),
        ...headers,
      },
    };
    const received = (response: http.IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) });
      });
    };
    const request = target.protocol === 'http:' ? http.request(target, options, received) : https.request(target, options, received);
    request.on('timeout', () => request.destroy(new Error(`no answer from ${target.host} within 30 s`)));
    request.on('error', reject);
    request.end(payload);
  });
