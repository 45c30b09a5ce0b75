import { once } from 'node:events';
import https from 'node:https';
import http2, { type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { Router, type ErrorRequestHandler, type RequestHandler } from 'express';
import { makeAuthority, makeCertificate, serverAuth } from '../../authentication/certificate-fixtures.ts';
import { StatusError } from '../../kube/status-error.ts';
import { createApps } from '../../server/express-apps.ts';
import { Listener } from '../../server/listener.ts';

export interface ClientCertificate {
  cert: string;
  key: string;
}

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: Record<string, any>;
}

export type Protocol = 'HTTP/1.1' | 'HTTP/2';

/** Header lines: names and values in turns. */
export type Lines = readonly string[];

/** Filters and a handler behind a real TLS listener, and connections to it that are kept open. */
export interface Served {
  port: number;
  connect(protocol: Protocol, certificate?: ClientCertificate): Connection;
  close(): Promise<void>;
}

export interface Connection {
  /** @param endless the body, and with it the request, does not come to its end */
  ask(method: string, path: string, lines?: Lines, signal?: AbortSignal, endless?: boolean): Promise<Answer>;
  close(): void;
}

const asStatus: ErrorRequestHandler = (error: unknown, _req, res, _next) => {
  if (res.headersSent) return void res.destroy();
  const { status } = error instanceof StatusError ? error : StatusError.internal(String(error));
  res.writeHead(status.code ?? 500, { 'content-type': 'application/json' }).end(JSON.stringify(status));
};

const authority = makeAuthority({ commonName: 'servers' });
const serving = makeCertificate({ commonName: 'localhost', issuer: authority, usages: [serverAuth], extensions: [['2.5.29.17', false, '\u0030\u000b\u0082\u0009localhost']] });

export const serve = async (...handlers: RequestHandler[]): Promise<Served> => {
  const router = Router();
  router.use(...handlers);
  router.use(asStatus);
  const listener = new Listener(createApps(router), { cert: serving.certPem, key: serving.keyPem });
  const port = await listener.listen('127.0.0.1', 0);
  const open = new Set<Connection>();
  return {
    port,
    connect(protocol, certificate) {
      const connection = connectTo(protocol, { port, servername: 'localhost', ca: authority.certPem, ...certificate });
      open.add(connection);
      return connection;
    },
    async close() {
      for (const connection of open) connection.close();
      await listener.close(100);
    },
  };
};

/** A connection to whatever serves TLS on loopback. */
export const connectTo = (protocol: Protocol, options: { port: number; servername?: string; ca: string } & Partial<ClientCertificate>): Connection =>
  protocol === 'HTTP/2'
    ? overHttp2(http2.connect(`https://127.0.0.1:${options.port}`, options))
    : overHttp1(new https.Agent({ ...options, host: '127.0.0.1', keepAlive: true, maxSockets: 8 }), options.port);

const overHttp1 = (agent: https.Agent, port: number): Connection => ({
  async ask(method, path, lines = [], signal, endless = false) {
    const request = https.request({ agent, method, path, port, host: '127.0.0.1', headers: ['host', 'localhost', ...lines] as never, signal });
    if (endless) request.flushHeaders();
    else request.end();
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: parse(await response.toArray()) };
  },
  close: () => agent.destroy(),
});

const overHttp2 = (session: ClientHttp2Session): Connection => {
  session.on('error', () => undefined);
  return {
    async ask(method, path, lines = [], signal, endless = false) {
      const headers: [string, string][] = [];
      for (let at = 0; at < lines.length; at += 2) headers.push([lines[at]!.toLowerCase(), lines[at + 1]!]);
      const raw = [':method', method, ':path', path, ...headers.flat()];
      const stream = session.request(raw as unknown as OutgoingHttpHeaders, { endStream: !endless, signal });
      const [answered] = (await once(stream, 'response')) as [Record<string, unknown>];
      return { status: Number(answered[':status']), headers: answered, body: parse((await stream.toArray()) as Buffer[]) };
    },
    close: () => session.destroy(),
  };
};

const parse = (chunks: Buffer[]): Record<string, any> => {
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, any>);
};
