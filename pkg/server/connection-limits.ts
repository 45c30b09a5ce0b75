/** What the peer of one connection may send, whoever it speaks for. */
export interface PeerLimits {
  /** Header lines of one request. */
  headerPairs: number;
  /** Bytes of one request's headers, names and values. */
  headerBytes: number;
  /** Bytes of answers that nobody has taken yet, before another request is let in over HTTP/2. */
  unreadBytes: number;
  /** Streams that may be reset at once, and each second after that. */
  resetBurst: number;
  resetsPerSecond: number;
  /** PING and SETTINGS frames each second. */
  controlFramesPerSecond: number;
}

/** Of whoever speaks for many users, and proves it. Node holds everybody to these from a session's beginning on. */
export const wideLimits: PeerLimits = {
  headerPairs: 8192,
  headerBytes: 1 << 20, // as the kube-apiserver takes
  unreadBytes: 1000 << 20,
  resetBurst: 20_000,
  resetsPerSecond: 2000,
  controlFramesPerSecond: 50_000, // Go sends a PING after a reset,
};

/** Of anybody else: one client. */
export const strictLimits: PeerLimits = {
  headerPairs: 2048,
  headerBytes: 256 * 1024,
  unreadBytes: 32 << 20,
  resetBurst: 400,
  resetsPerSecond: 50,
  controlFramesPerSecond: 20,
};

/** HTTP/2 streams at a time. The front proxy opens few connections; another has to open more of them for more. */
export const concurrentStreams = {
  front: 5000,
  peer: 100, // as the kube-apiserver allows
};

/** Connections at a time that are not the front proxy's. */
export const maxPeerConnections = 2000;

/** How long a connection may take for each part, in ms; the values are the kube-apiserver's where it has them. */
export interface ConnectionTimes {
  /** From the TCP connection to the end of the TLS handshake. */
  handshakeMs: number;
  /** From a request's first byte to the end of its headers. */
  headersMs: number;
  /** Without a request. */
  idleMs: number;
  /** How often connections are looked at. */
  sweepMs: number;
}

export const connectionTimes: ConnectionTimes = { handshakeMs: 10_000, headersMs: 32_000, idleMs: 90_000, sweepMs: 1000 };
