import { ServerResponse, type IncomingMessage } from 'node:http';
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Response } from 'express';
import { contextOf } from '../endpoints/context.ts';
import type { Apps } from './express-apps.ts';

/** A serving certificate with its key, PEM. */
export interface ServingCertificate {
  cert: string;
  key: string;
}

/**
 * One TLS port for HTTP/2 and HTTP/1.1. A client certificate is asked for and never required: authenticators judge it.
 * The front proxy puts all users on few connections, so what one connection may do is wide; time-outs bound idlers.
 */
export class Listener {
  readonly #server: Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Every connection, whatever is spoken on it. */
  readonly #sockets = new Set<Socket>();
  /** Those on which an HTTP/1.1 request is under way. */
  readonly #busy = new Set<Socket>();

  constructor(apps: Apps, certificate: ServingCertificate) {
    this.#server = createSecureServer({
      ...certificate,
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      maxSessionMemory: 1000,
      maxHeaderListPairs: 4096,
      settings: { maxConcurrentStreams: 1000, maxHeaderListSize: 1 << 20, initialWindowSize: 256 * 1024 },
      streamResetBurst: 5000,
      streamResetRate: 500,
    } as Parameters<typeof createSecureServer>[0]);
    this.#server.on('request', (request: Http2ServerRequest | IncomingMessage, response: Http2ServerResponse | ServerResponse) => {
      if (request.httpVersionMajor >= 2) return apps.http2(request as never, response as never);
      this.#busy.add(request.socket);
      response.once('close', () => this.#busy.delete(request.socket));
      apps.http1(request as never, response as never);
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => serveUpgrade(apps, request, socket, head));
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => undefined); // its streams tell whoever waits on them
    });
    const follow = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined); // a peer that breaks off
    };
    this.#server.on('connection', follow); // also who never gets as far as TLS
    this.#server.on('secureConnection', follow);
    this.#server.on('tlsClientError', () => undefined); // a peer that does not trust us, or is no TLS peer
  }

  /** Serves new connections with another certificate. */
  useCertificate(certificate: ServingCertificate): void {
    this.#server.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' });
  }

  /** @returns the port that was taken */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject);
        this.#server.on('error', () => undefined);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no new requests, waits for those under way, and cuts off what is left then, or when the time is over. */
  async close(graceMs: number): Promise<void> {
    const until = Date.now() + graceMs;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    // idle connections would be waited for, too: nothing tells when the last request has ended but a look
    const look = setInterval(() => {
      if ((this.#sessions.size > 0 || this.#busy.size > 0) && Date.now() < until) return;
      for (const session of this.#sessions) session.destroy();
      for (const socket of this.#sockets) socket.destroy();
    }, 50);
    await closed;
    clearInterval(look);
  }
}

/**
 * A request for another protocol meets the same filters and handlers. A handler that speaks the protocol takes the socket;
 * any other answers as always, and the connection ends.
 */
const serveUpgrade = (apps: Apps, request: IncomingMessage, socket: Socket, head: Buffer): void => {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  contextOf(response as unknown as Response).upgradeHead = head;
  apps.http1(request as never, response as never);
};
