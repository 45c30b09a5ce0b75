import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Throttle } from '../audit/throttle.ts';
import { maxPeerConnections, strictLimits, wideLimits, type ConnectionTimes, type PeerLimits } from './connection-limits.ts';

/** Why a connection was ended by us, or a request on it refused. */
export type Ending = 'slow handshake' | 'failed handshake' | 'crowded' | 'slow headers' | 'idle' | 'control frames' | 'resets' | 'unread answers' | 'malformed' | 'headers too large' | 'protocol error';

/** Who is at the other end: the front proxy, another proxy that is trusted by its user's name, or anybody. */
export type PeerKind = 'front' | 'proxy' | 'peer';

const goodbyeMs = 50;

/** One TLS connection, whatever is spoken on it. */
export class Connection {
  readonly socket: TLSSocket;
  /** A peer that turns out to be a trusted proxy is one from then on. */
  kind: PeerKind;
  /** Of a peer's HTTP/2 session. */
  readonly streams = new Set<ServerHttp2Stream>();
  /** Whether a request has told who the peer is. */
  judged = false;
  session: ServerHttp2Session | undefined;
  ended = false;
  /** Requests under way. */
  open = 0;
  /** PING and SETTINGS frames in the second that began at `controlSince`. */
  controlFrames = 0;
  controlSince = 0;
  /** When the last request ended. */
  idleSince: number;
  /** Bytes that had come when the last request ended. */
  bytesBefore = 0;
  /** When the bytes of a request began to come, as far as a sweep has seen that. */
  headersSince: number | undefined;
  /** How often requests may be reset, where Node's own limit is too wide. */
  readonly #resets: Throttle;
  readonly #now: () => number;

  constructor(socket: TLSSocket, kind: PeerKind, now: () => number) {
    this.socket = socket;
    this.kind = kind;
    this.#now = now;
    this.idleSince = now();
    this.bytesBefore = socket.bytesRead;
    this.#resets = new Throttle({ qps: strictLimits.resetsPerSecond, burst: strictLimits.resetBurst }, now);
  }

  get limits(): PeerLimits {
    return this.kind === 'peer' ? strictLimits : wideLimits;
  }

  /** A request has begun. */
  take(): void {
    this.open += 1;
    this.headersSince = undefined;
  }

  /** A request has ended. */
  readonly release = (): void => {
    this.open -= 1;
    if (this.open > 0) return;
    this.idleSince = this.#now();
    this.bytesBefore = this.socket.bytesRead;
  };

  /** A request has been reset. @returns whether the peer may do so as often */
  mayReset(): boolean {
    return this.kind !== 'peer' || this.#resets.take() === 0;
  }

  /** Whether the peer may send such headers: names and values in turns. */
  takes(rawHeaders: readonly string[]): boolean {
    if (this.kind !== 'peer') return true;
    const { headerPairs, headerBytes } = this.limits;
    return rawHeaders.length <= 2 * headerPairs && rawHeaders.reduce((size, { length }) => size + length, 0) <= headerBytes;
  }

  /** Whether so much of its answers is unread that the peer has to wait with other requests. */
  get congested(): boolean {
    if (this.kind !== 'peer') return false;
    let unread = 0;
    for (const { writableLength } of this.streams) unread += writableLength;
    return unread > this.limits.unreadBytes;
  }

  /** Lets requests under way end, and takes no others. */
  retire(): void {
    if (this.session) this.session.close();
    else if (this.open === 0) this.socket.destroy();
  }
}

export interface ConnectionsOptions {
  times: ConnectionTimes;
  now?: () => number;
  onEnding?: (why: Ending) => void;
}

/** Every connection of a listener: those that take too long, too much, or do nothing, are ended. */
export class Connections {
  readonly #times: ConnectionTimes;
  readonly #now: () => number;
  readonly #onEnding: (why: Ending) => void;
  /** TCP connections without TLS yet by their peer's address, oldest first. */
  readonly #shaking = new Map<string, { socket: Socket; since: number }>();
  readonly #open = new Set<Connection>();
  readonly #counts: Record<PeerKind, number> = { front: 0, proxy: 0, peer: 0 };
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ times, now = Date.now, onEnding = () => undefined }: ConnectionsOptions) {
    this.#times = times;
    this.#now = now;
    this.#onEnding = onEnding;
  }

  start(): void {
    this.#sweeper = setInterval(() => this.sweep(), this.#times.sweepMs);
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  count(kind: PeerKind): number {
    return this.#counts[kind];
  }

  /** Whether anything is under way that a stop has to wait for. */
  get busy(): boolean {
    for (const { session, open } of this.#open) if (session || open > 0) return true;
    return false;
  }

  /** A TCP connection has come. Among many that do not get on with their handshake, the oldest makes place. */
  shake(socket: Socket): void {
    const key = addressOf(socket);
    this.#shaking.set(key, { socket, since: this.#now() });
    socket.once('close', () => this.#shaking.delete(key));
    if (this.#shaking.size > maxPeerConnections) this.#endOldest('crowded');
  }

  /** The handshake of a connection is done. @returns undefined where there is no place for it */
  open(socket: TLSSocket, kind: PeerKind): Connection | undefined {
    this.#shaking.delete(addressOf(socket));
    if (kind === 'peer' && this.#counts.peer >= maxPeerConnections) {
      socket.destroy();
      this.#onEnding('crowded');
      return undefined;
    }
    const connection = new Connection(socket, kind, this.#now);
    this.#open.add(connection);
    this.#counts[kind] += 1;
    socket.once('close', () => {
      this.#open.delete(connection);
      this.#counts[connection.kind] -= 1;
    });
    return connection;
  }

  /** A peer has turned out to be a proxy that is trusted: its limits are wide from now on. */
  trust(connection: Connection): void {
    if (connection.kind !== 'peer' || connection.socket.destroyed) return;
    connection.kind = 'proxy';
    this.#counts.peer -= 1;
    this.#counts.proxy += 1;
  }

  /** Ends a connection at once, and counts why. */
  end(connection: Connection, why: Ending): void {
    const { session, socket, ended } = connection;
    if (socket.destroyed || ended) return;
    connection.ended = true;
    this.#onEnding(why);
    if (why !== 'control frames' && why !== 'resets') return void (session ?? socket).destroy();
    session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    setTimeout(() => session?.destroy(), goodbyeMs).unref(); // at once, the peer would not get to read why
  }

  /** A PING or SETTINGS frame has come. */
  control(connection: Connection): void {
    const now = this.#now();
    if (now - connection.controlSince >= 1000) {
      connection.controlSince = now;
      connection.controlFrames = 0;
    }
    connection.controlFrames += 1;
    if (connection.controlFrames > connection.limits.controlFramesPerSecond) this.end(connection, 'control frames');
  }

  /** Lets go of connections that are now judged to be of another kind than when they were opened: their limits are wrong. */
  reconsider(kindOf: (socket: TLSSocket) => PeerKind): void {
    for (const connection of this.#open) if ((kindOf(connection.socket) === 'front') !== (connection.kind === 'front')) connection.retire();
  }

  /** Takes no new requests on any connection; what is not busy is closed. */
  retire(): void {
    for (const { session } of this.#open) session?.close();
  }

  stop(): void {
    clearInterval(this.#sweeper);
    for (const { socket } of this.#shaking.values()) socket.destroy();
    for (const { session, socket } of this.#open) {
      session?.destroy();
      socket.destroy();
    }
  }

  sweep(): void {
    const now = this.#now();
    for (const { since } of this.#shaking.values()) {
      if (now - since < this.#times.handshakeMs) break; // the oldest come first
      this.#endOldest('slow handshake');
    }
    for (const connection of this.#open) if (connection.open === 0) this.#sweepIdle(connection, now);
  }

  #endOldest(why: Ending): void {
    const [[key, { socket }]] = this.#shaking as unknown as [[string, { socket: Socket }]];
    this.#shaking.delete(key);
    socket.destroy();
    this.#onEnding(why);
  }

  #sweepIdle(connection: Connection, now: number): void {
    const { session, socket, idleSince, bytesBefore } = connection;
    if (!session && socket.bytesRead > bytesBefore) {
      connection.headersSince ??= now;
      if (now - connection.headersSince >= this.#times.headersMs) this.end(connection, 'slow headers');
    } else if (now - idleSince >= this.#times.idleMs) {
      if (!session || session.closed) return this.end(connection, 'idle');
      session.close(); // says goodbye; who does not hang up then is ended by the next sweep
    }
  }
}

/** Two connections to one port never have the same. */
const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;
