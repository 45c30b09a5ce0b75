import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';
import { withoutToken } from '../authentication/websocket-token.ts';
import { StatusError } from '../kube/status-error.ts';
import { ConnectionError } from '../kube/transport.ts';
import type { Trail } from './audit.ts';
import type { Backend } from './backend.ts';
import { BackendTimeout, stopping } from './failures.ts';
import { returnedHeaders } from './hop.ts';

export interface Upgrading {
  request: IncomingMessage;
  response: ServerResponse;
  /** What the client has sent of the other protocol already. */
  head: Buffer;
  /** As they go to the backend, without those that ask for the other protocol. */
  headers: OutgoingHttpHeaders;
  trail: Trail | undefined;
  timeoutMs: number;
  /** Ends the connection. */
  ending: AbortSignal;
}

/**
 * Passes on a request for another protocol (RFC 9110 7.8). Where the backend agrees, bytes go both ways until either side ends; else its
 * answer is passed back.
 * @returns once that is over
 * @throws what kept the answer from beginning
 */
export const passUpgrade = (backend: Backend, { request, response, head, headers, trail, timeoutMs, ending }: Upgrading): Promise<void> =>
  new Promise((resolve, reject) => {
    const client = request.socket;
    const sent = backend.upgrade(request.method ?? 'GET', request.url ?? '/', upgradeHeaders(request, headers));
    const timer = setTimeout(() => sent.destroy(new BackendTimeout(`the backend did not answer within ${timeoutMs / 1000} s`)), timeoutMs);
    const abandon = (): void => void sent.destroy();
    client.once('close', abandon);
    const refuse = (): void => void sent.destroy(stopping());
    const end = (): void => void client.end();
    ending.addEventListener('abort', refuse);
    const begun = (status: number, answer: IncomingMessage): void => {
      clearTimeout(timer);
      client.off('close', abandon);
      ending.removeEventListener('abort', refuse);
      trail?.head(status, answer.headers);
    };
    sent.on('upgrade', (answer, backendSocket, backendHead) => {
      begun(101, answer);
      response.detachSocket(client); // from here on bytes are nobody's HTTP
      client.write(switching(answer), 'latin1');
      ending.addEventListener('abort', end);
      join(client, backendSocket, head, backendHead, () => {
        ending.removeEventListener('abort', end);
        response.emit('close');
        resolve();
      });
    });
    sent.on('response', (answer) => {
      begun(answer.statusCode ?? 502, answer);
      response.writeHead(answer.statusCode ?? 502, returnedHeaders(answer.headers) as never);
      answer.on('data', (chunk: Buffer) => trail?.responseBody?.add(chunk));
      answer.pipe(response);
      response.once('close', () => {
        answer.destroy();
        resolve();
      });
      answer.once('error', () => response.destroy());
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      client.off('close', abandon);
      ending.removeEventListener('abort', refuse);
      if (client.destroyed) return resolve();
      reject(error instanceof BackendTimeout || error instanceof StatusError ? error : new ConnectionError(error.message, !sent.socket || sent.socket.connecting, error));
    });
    sent.end();
  });

/** With what asks for the other protocol, without the token that a browser hides in it. */
const upgradeHeaders = ({ headers, rawHeaders }: IncomingMessage, forwarded: OutgoingHttpHeaders): OutgoingHttpHeaders => {
  const { 'sec-websocket-protocol': offered, ...rest } = forwarded;
  const protocols = withoutToken(rawHeaders) ?? offered;
  return { ...rest, connection: 'Upgrade', upgrade: headers.upgrade, ...(protocols && { 'sec-websocket-protocol': protocols }) };
};

const switching = ({ rawHeaders }: IncomingMessage): string => {
  let text = `HTTP/1.1 101 ${STATUS_CODES[101]}\r\n`;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return `${text}\r\n`;
};

const join = (client: Duplex, backend: Duplex, clientHead: Buffer, backendHead: Buffer, done: () => void): void => {
  if (clientHead.length > 0) backend.write(clientHead);
  if (backendHead.length > 0) client.write(backendHead);
  client.pipe(backend);
  backend.pipe(client);
  for (const [one, other] of [[client, backend], [backend, client]] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => {
      if (!(one.readableEnded && other.writableEnded)) other.destroy(); // broke off: what was said goodbye to is still being written
    });
  }
  client.once('close', done);
};
