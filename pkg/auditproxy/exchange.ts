import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, OutgoingHttpHeaders } from 'node:http2';

/** A request and its answer, over HTTP/1.1 or HTTP/2. */
export type ClientRequest = IncomingMessage | Http2ServerRequest;
export type ClientResponse = ServerResponse | Http2ServerResponse;

/** Whether a body follows the head. */
export const hasBody = (request: ClientRequest): boolean => {
  if ('stream' in request) return !request.stream.endAfterHeaders;
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
};

/** Sends the head of an answer at once. */
export const beginAnswer = (response: ClientResponse, status: number, headers: OutgoingHttpHeaders): void => {
  (response as ServerResponse).writeHead(status, headers); // HTTP/2's takes the same, and sends it at once
  if (!('stream' in response)) response.flushHeaders();
};

/** @returns whether more may follow before the answer drains */
export const writeAnswer = (response: ClientResponse, chunk: Buffer): boolean => (response as ServerResponse).write(chunk);

/** Ends an answer that cannot be completed, so that the client takes it for what it is. */
export const cutOff = (response: ClientResponse): void => {
  if ('stream' in response) response.stream.close(internalError);
  else response.destroy();
};

const internalError = 2; // RFC 9113 7: INTERNAL_ERROR

/** The client broke off before its request was complete. */
export class ClientGone extends Error {}

/** The whole body. @throws ClientGone */
export const readWhole = (request: ClientRequest): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    for (const event of ['error', 'aborted', 'close']) request.once(event, () => reject(new ClientGone())); // after the end it says nothing new
  });
