import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, IncomingHttpHeaders } from 'node:http2';
import { sendHead } from '../endpoints/send-head.ts';
import { returnedHeaders } from './hop.ts';

/** A request and its answer, over HTTP/1.1 or HTTP/2. */
export type ClientRequest = IncomingMessage | Http2ServerRequest;
export type ClientResponse = ServerResponse | Http2ServerResponse;

/** Whether a body follows the head. */
export const hasBody = (request: ClientRequest): boolean => {
  if ('stream' in request) return !request.stream.endAfterHeaders;
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
};

/** Sends the head of an answer at once. @param received the backend's, by which trailers are to be had of answers without a length, and where they are announced */
export const beginAnswer = (response: ClientResponse, status: number, received: IncomingHttpHeaders): void => {
  sendHead(response, status, returnedHeaders(received), received['content-length'] === undefined || received.trailer !== undefined);
  if (!('stream' in response)) response.flushHeaders(); // over HTTP/2 it is on its way
};

/** @returns whether more may follow before the answer drains */
export const writeAnswer = (response: ClientResponse, chunk: Buffer): boolean => (response as ServerResponse).write(chunk);

/** Ends an answer, with its last piece where that is still to be sent: one frame over HTTP/2 then. */
export const endAnswer = (response: ClientResponse, last: Buffer | undefined): void => void (response as ServerResponse).end(last);

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
