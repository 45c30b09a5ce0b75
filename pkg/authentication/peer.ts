import type { X509Certificate } from 'node:crypto';
import type { Http2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** A request over HTTP/1.1, or over HTTP/2 in its compatibility form. */
interface ConnectedRequest {
  socket?: unknown;
  stream?: { session?: Http2Session } | object;
}

type Certificates = readonly X509Certificate[];

const none: Certificates = [];
const known = new WeakMap<object, Certificates>();

/** A handshake holds no more than some dozens; what is beyond cannot be part of a chain. */
const maxPresented = 32;

/** A resumed TLS session brings the peer's certificate, not what it sent along: that is remembered by the certificate. */
const intermediates = new Map<string, Certificates>();
const maxRemembered = 1_000;

/**
 * The certificates that the peer of a request's connection presented, leaf first and in the order it sent them; none over plain
 * text. The same array for every request of a connection. Nothing is verified here.
 */
export const peerCertificatesOf = (request: ConnectedRequest): Certificates => {
  // Over HTTP/2 request.socket is a new proxy each time; the session is what stays.
  const connection = sessionOf(request) ?? (request.socket as object | undefined);
  if (!connection) return none;
  let certificates = known.get(connection);
  if (!certificates) {
    certificates = presented(connection);
    known.set(connection, certificates);
  }
  return certificates;
};

/** Lets a session have the certificates of the socket that it speaks on: a socket can be asked for a chain only once. */
export const shareCertificates = (socket: object, session: Http2Session): void => void known.set(session, peerCertificatesOf({ socket }));

const sessionOf = ({ stream }: ConnectedRequest): Http2Session | undefined => (stream && 'session' in stream ? stream.session : undefined);

const presented = (connection: object): Certificates => {
  const socket = ('socket' in connection ? connection.socket : connection) as Partial<TLSSocket> | undefined;
  const leaf = socket?.getPeerX509Certificate?.();
  if (!leaf) return none;
  const sent: X509Certificate[] = [];
  // Each certificate refers to the next one that was sent, its issuer or not.
  for (let next = leaf.issuerCertificate; next && sent.length < maxPresented; next = next.issuerCertificate) sent.push(next);
  if (sent.length > 0) remember(leaf.fingerprint512, sent);
  else if (socket?.isSessionReused?.()) return [leaf, ...(intermediates.get(leaf.fingerprint512) ?? [])];
  return [leaf, ...sent];
};

const remember = (leaf: string, sent: Certificates): void => {
  intermediates.delete(leaf);
  intermediates.set(leaf, sent);
  if (intermediates.size > maxRemembered) intermediates.delete(intermediates.keys().next().value!);
};
