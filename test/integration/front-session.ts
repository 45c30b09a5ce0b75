import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { KeyPair } from '../../pkg/server/certificates.ts';

/** A connection to a server on this machine as the kube-apiserver opens it. */
export const frontSession = async (port: number, { certPem, keyPem }: KeyPair): Promise<ClientHttp2Session> => {
  const session = http2.connect(`https://127.0.0.1:${port}`, { cert: certPem, key: keyPem, rejectUnauthorized: false, maxSessionMemory: 1000, maxSendHeaderBlockLength: 1 << 20 });
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
};

/** Gets a path for a user of some groups. */
export const getAs = (session: ClientHttp2Session, path: string, user: string, groups: readonly string[]): ClientHttp2Stream =>
  session.request([':method', 'GET', ':path', path, 'x-remote-user', user, ...groups.flatMap((group) => ['x-remote-group', group])] as never, { endStream: true });

/** The whole answer. Rejects where the stream ends without one. */
export const answerOf = async (stream: ClientHttp2Stream): Promise<{ status: number; length: number }> => {
  const [answer] = (await once(stream, 'response')) as [{ ':status': number }];
  return { status: answer[':status'], length: Buffer.concat((await stream.toArray()) as Buffer[]).length };
};

/** Sends requests and cancels them at once, so many in a round; after each round another user's request has to be answered. */
export const cancelMany = async (rounds: number, each: number, flighty: () => ClientHttp2Stream, patient: () => ClientHttp2Stream): Promise<number[]> => {
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const stream of Array.from({ length: each }, flighty)) {
      stream.on('error', () => undefined);
      stream.close(http2.constants.NGHTTP2_CANCEL);
    }
    statuses.push((await answerOf(patient())).status);
  }
  return statuses;
};
