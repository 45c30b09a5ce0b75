import { once } from 'node:events';
import http2, { type ClientHttp2Session } from 'node:http2';

/** A server, and the front proxy's certificate to show to it. */
export interface FrontAddress {
  port: number;
  certPem: string;
  keyPem: string;
}

/** A connection as the kube-apiserver opens it. */
export const frontSession = async ({ port, certPem, keyPem }: FrontAddress): Promise<ClientHttp2Session> => {
  const session = http2.connect(`https://127.0.0.1:${port}`, { cert: certPem, key: keyPem, rejectUnauthorized: false, maxSessionMemory: 1000 });
  await once(session, 'remoteSettings');
  return session;
};

/** Gets a path for a user. @returns the status, once the answer is whole; 0 where there is none */
export const getAs = async (session: ClientHttp2Session, user: string, path: string): Promise<number> => {
  const stream = session.request({ ':path': path, 'x-remote-user': user, 'x-remote-group': 'fairness' });
  let status = 0;
  stream.on('response', (head) => (status = head[':status'] ?? 0));
  stream.on('error', () => undefined);
  stream.resume();
  await once(stream, 'close');
  return status;
};
