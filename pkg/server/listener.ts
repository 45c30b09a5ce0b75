import type { X509Certificate } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { Response } from 'express';
import { peerCertificatesOf, shareCertificates } from '../authentication/peer.ts';
import { contextOf } from '../endpoints/context.ts';
import { concurrentStreams, connectionTimes, strictLimits, wideLimits, type ConnectionTimes } from './connection-limits.ts';
import { Connections, type Connection, type Ending, type PeerKind } from './connections.ts';
import type { Serve } from './in-turn.ts';

/** A serving certificate with its key, PEM. */
export interface ServingCertificate {
  cert: string;
  key: string;
}

export interface ListenerOptions {
  /** Whether a peer with these certificates is the front proxy, whose limits are wide. */
  isFrontProxy?: (peer: readonly X509Certificate[]) => boolean;
  /**
   * Whether a request comes from a proxy whose limits may be wide as well; undefined where the request does not tell. Absent: none may.
   * Asked until a connection has told. Rejects where it cannot be found out now.
   */
  isTrustedProxy?: (rawHeaders: readonly string[]) => Promise<boolean | undefined>;
  /** Told why a connection was ended by us. */
  onEnding?: (why: Ending) => void;
  times?: Partial<ConnectionTimes>;
}

/** An import statement would read every export, WebSocket among them, for which Node loads a whole client. */
const http = process.getBuiltinModule('node:http');

/** Who answers requests, by version of HTTP. */
export type Handlers = Record<'http1' | 'http2', Serve>;

/** Both versions of HTTP with the limits of one kind of peer, on connections that are handed over. */
interface Protocols {
  http1: Server;
  http2: http2.Http2Server;
}

/**
 * One TLS port for HTTP/2 and HTTP/1.1. A client certificate is asked for and never required: authenticators judge it.
 * Limits are wide on connections of the verified front proxy, which puts all users on few, and strict on others.
 */
export class Listener {
  readonly #handlers: Handlers;
  readonly #server: tls.Server;
  readonly #protocols: Record<'front' | 'peer', Protocols>;
  readonly #connections: Connections;
  readonly #onEnding: (why: Ending) => void;
  readonly #isFrontProxy: (peer: readonly X509Certificate[]) => boolean;
  readonly #isTrustedProxy: ListenerOptions['isTrustedProxy'];
  /** By socket for HTTP/1.1, by session for HTTP/2. */
  readonly #connectionOf = new WeakMap<object, Connection>();

  constructor(handlers: Handlers, certificate: ServingCertificate, options: ListenerOptions = {}) {
    const { isFrontProxy = () => false, isTrustedProxy, onEnding = () => undefined, times } = options;
    this.#handlers = handlers;
    this.#isFrontProxy = isFrontProxy;
    this.#isTrustedProxy = isTrustedProxy;
    this.#onEnding = onEnding;
    this.#connections = new Connections({ times: { ...connectionTimes, ...times }, onEnding });
    this.#protocols = { front: this.#protocolsFor('front', wideLimits.headerBytes), peer: this.#protocolsFor('peer', strictLimits.headerBytes) };
    this.#server = tls.createServer({
      ...certificate,
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      keepAlive: true, // finds out that a peer is gone without goodbye
      keepAliveInitialDelay: 30_000,
      noDelay: true,
    });
    this.#server.on('connection', (socket: Socket) => {
      socket.on('error', () => undefined); // a peer that breaks off
      this.#connections.shake(socket);
    });
    this.#server.on('secureConnection', (socket) => this.#serve(socket));
    this.#server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNRESET') this.#onEnding('failed handshake'); // a peer that does not trust us, or is no TLS peer; who only hangs up is a probe
    });
  }

  /** Serves new connections with another certificate. */
  useCertificate(certificate: ServingCertificate): void {
    this.#server.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' });
  }

  /** Who the front proxy is may have changed: connections with the wrong limits are to be opened anew. */
  reconsider(): void {
    this.#connections.reconsider((socket) => this.#kindOf(socket));
  }

  /** Connections that are open. */
  connections(kind: PeerKind): number {
    return this.#connections.count(kind);
  }

  /** @returns the port that was taken */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject);
        this.#server.on('error', () => undefined);
        this.#connections.start();
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no new requests, waits for those under way, and cuts off what is left then, or when the time is over. */
  async close(graceMs: number): Promise<void> {
    const until = Date.now() + graceMs;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#connections.retire();
    // idle connections would be waited for, too: nothing tells when the last request has ended but a look
    const look = setInterval(() => {
      if (!this.#connections.busy || Date.now() >= until) this.#connections.stop();
    }, 50);
    await closed;
    clearInterval(look);
  }

  #kindOf(socket: TLSSocket): 'front' | 'peer' {
    return this.#isFrontProxy(peerCertificatesOf({ socket })) ? 'front' : 'peer';
  }

  #serve(socket: TLSSocket): void {
    socket.on('error', () => undefined);
    const kind = this.#kindOf(socket);
    const connection = this.#connections.open(socket, kind);
    if (!connection) return;
    const { http1, http2: second } = this.#protocols[kind];
    if (socket.alpnProtocol === 'h2') {
      second.once('session', (session) => this.#follow(connection, session));
      second.emit('connection', socket); // makes the session at once
    } else {
      this.#connectionOf.set(socket, connection);
      http1.emit('connection', socket);
    }
  }

  /** @param http1HeaderBytes of one request over HTTP/1.1, where a peer's limits are those that it began with */
  #protocolsFor(kind: 'front' | 'peer', http1HeaderBytes: number): Protocols {
    const first = http.createServer({ maxHeaderSize: http1HeaderBytes, keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, requireHostHeader: false });
    first.maxHeadersCount = 0; // what is beyond a count would be dropped in silence, and who a request is made for with it
    first.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.httpVersionMajor !== 1) return this.#refuseRequest(response, '505 HTTP Version Not Supported'); // the parser takes any, and much behind goes by it
      if (request.headers.host === undefined && request.httpVersionMinor > 0) return this.#refuseRequest(response, '400 Bad Request'); // RFC 9112 3.2
      this.#count(request.socket, response);
      this.#handlers.http1(request as never, response as never);
    });
    first.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => this.#upgrade(request, socket, head));
    first.on('connect', (_request, socket) => {
      this.#onEnding('malformed'); // nobody is connected to others here
      socket.destroy();
    });
    first.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#refuse(error, socket));

    const second = http2.createServer({
      maxSessionMemory: wideLimits.unreadBytes >> 20,
      maxHeaderListPairs: wideLimits.headerPairs,
      settings: { maxConcurrentStreams: concurrentStreams[kind], maxHeaderListSize: wideLimits.headerBytes, initialWindowSize: 256 * 1024 },
      streamResetBurst: wideLimits.resetBurst,
      streamResetRate: wideLimits.resetsPerSecond,
    } as http2.ServerOptions);
    second.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => this.#take(request, response));
    return { http1: first, http2: second };
  }

  /** A request over HTTP/2. Node's own limits are wide for everybody; here those hold that are strict for most. */
  #take(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream, rawHeaders } = request;
    const serve = (): void => this.#handlers.http2(request as never, response as never);
    const connection = stream.session && this.#connectionOf.get(stream.session);
    if (!connection) return serve();
    this.#count(stream.session!, stream);
    if (connection.kind !== 'peer') return serve();
    if (connection.congested) {
      this.#onEnding('unread answers');
      return stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    connection.streams.add(stream as ServerHttp2Stream);
    stream.once('close', () => {
      connection.streams.delete(stream as ServerHttp2Stream);
      if (stream.rstCode === http2.constants.NGHTTP2_PROTOCOL_ERROR) this.#onEnding('malformed');
      const reset = stream.aborted || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR;
      if (reset && !connection.mayReset()) this.#connections.end(connection, 'resets');
    });
    const judged = this.#judge(connection, rawHeaders);
    if (connection.takes(rawHeaders)) return serve();
    void judged.then(() => (connection.takes(rawHeaders) ? serve() : this.#connections.end(connection, 'headers too large')));
  }

  /** Finds out whether a peer is a proxy that is trusted. Small requests need not wait for it. */
  async #judge(connection: Connection, rawHeaders: readonly string[]): Promise<void> {
    if (!this.#isTrustedProxy || connection.judged) return;
    try {
      const trusted = await this.#isTrustedProxy(rawHeaders);
      connection.judged = trusted !== undefined;
      if (trusted) this.#connections.trust(connection);
    } catch {
      // another request will tell
    }
  }

  /** A connection is busy until its request is over. */
  #count(key: object, request: EventEmitter): void {
    const connection = this.#connectionOf.get(key);
    if (!connection) return;
    connection.take();
    request.once('close', connection.release);
  }

  #follow(connection: Connection, session: ServerHttp2Session): void {
    connection.session = session;
    shareCertificates(connection.socket, session);
    this.#connectionOf.set(session, connection);
    session.on('error', () => this.#onEnding('protocol error')); // its streams tell whoever waits on them
    session.on('ping', () => this.#connections.control(connection));
    session.on('remoteSettings', () => this.#connections.control(connection));
  }

  /**
   * A request for another protocol meets the same filters and handlers. A handler that speaks the protocol takes the socket;
   * any other answers as always, and the connection ends.
   */
  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const connection = this.#connectionOf.get(socket);
    connection?.take();
    const response = new http.ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      connection?.release();
      socket.end();
    });
    contextOf(response as unknown as Response).upgradeHead = head;
    this.#handlers.http1(request as never, response as never);
  }

  /** What the parser takes, and would be refused by nobody behind. */
  #refuseRequest(response: ServerResponse, status: string): void {
    this.#onEnding('malformed');
    response.writeHead(Number.parseInt(status, 10), { connection: 'close', 'content-type': 'text/plain; charset=utf-8' }).end(status);
  }

  /** What is no HTTP, or too much of it. */
  #refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const large = code === 'HPE_HEADER_OVERFLOW';
    const connection = this.#connectionOf.get(socket);
    if (connection && code?.startsWith('HPE_')) this.#onEnding(large ? 'headers too large' : 'malformed');
    const status = large ? '431 Request Header Fields Too Large' : '400 Bad Request';
    if (socket.writable && connection?.open === 0) {
      socket.write(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`);
    }
    socket.destroy();
  }
}
