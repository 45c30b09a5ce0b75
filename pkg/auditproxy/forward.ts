import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { Deadlines } from '../endpoints/deadlines.ts';
import { ConnectionError, type Exchange, type RequestBody, type ResponseSink } from '../kube/transport.ts';
import type { Trail } from './audit.ts';
import type { Backend } from './backend.ts';
import { beginAnswer, ClientGone, cutOff, endAnswer, hasBody, readWhole, writeAnswer, type ClientRequest, type ClientResponse } from './exchange.ts';
import { BackendTimeout, stopping } from './failures.ts';
import { returnedHeaders } from './hop.ts';

export interface Forwarding {
  request: ClientRequest;
  response: ClientResponse;
  /** As they go to the backend. */
  headers: OutgoingHttpHeaders;
  trail: Trail | undefined;
  /** Milliseconds until the answer has to begin. */
  timeoutMs: number;
  deadlines: Deadlines;
  /** Of requests that end only when somebody ends them: completes the answer as it is. */
  ending: AbortSignal | undefined;
}

/** Bodies up to this size are read before they are sent on: such a request can be sent once more when a connection turns out to be gone. */
const wholeBytes = 64 * 1024;

/**
 * Passes a request to the backend and the answer back, as it comes and as fast as it is read. When either side breaks off, so does the other.
 * @returns once the answer is complete, or the client has broken off
 * @throws what kept the answer from beginning; an answer that breaks off later is cut off here
 */
export const forward = async (backend: Backend, forwarding: Forwarding): Promise<void> => {
  let body: RequestBody | undefined;
  try {
    body = await bodyOf(forwarding);
  } catch (error) {
    if (error instanceof ClientGone) return; // half a body is nobody's request
    throw error;
  }
  if (forwarding.response.destroyed) return;
  try {
    await attempt(backend, forwarding, body);
  } catch (error) {
    const again = error instanceof ConnectionError && error.unprocessed && typeof body !== 'function' && !forwarding.ending?.aborted;
    if (!again || forwarding.response.destroyed) throw error;
    await attempt(backend, forwarding, body);
  }
};

/** @throws ClientGone */
const bodyOf = async ({ request, headers, trail }: Forwarding): Promise<RequestBody | undefined> => {
  if (!hasBody(request)) return undefined;
  if (Number(headers['content-length'] ?? Infinity) <= wholeBytes) {
    const whole = await readWhole(request);
    trail?.requestBody?.add(whole);
    return whole;
  }
  return (stream) => {
    if (trail?.requestBody) request.on('data', (chunk: Buffer) => trail.requestBody?.add(chunk));
    request.pipe(stream);
  };
};

const attempt = (backend: Backend, { request, response, headers, trail, timeoutMs, deadlines, ending }: Forwarding, body: RequestBody | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    let exchange: Exchange | undefined;
    let over = false;
    let begun = false;
    /** Bytes of the body that are still to come; NaN where its length is not stated. */
    let left = NaN;
    let last: Buffer | undefined;
    const deadline = deadlines.after(timeoutMs, () => fail(new BackendTimeout(`the backend did not answer within ${timeoutMs / 1000} s`)));
    const settle = (): void => {
      over = true;
      deadline.cancel();
      response.off('close', abandon);
      response.off('drain', resume);
      ending?.removeEventListener('abort', complete);
    };
    const resume = (): void => exchange?.resume();
    const abandon = (): void => {
      settle();
      exchange?.cancel();
      resolve();
    };
    const fail = (error: Error): void => {
      if (over) return;
      settle();
      exchange?.cancel();
      if (!begun) return reject(error);
      cutOff(response);
      resolve();
    };
    /** The end comes with the last piece nearly always, and goes on with it; where it does not, nobody waits for it. */
    const hold = (chunk: Buffer): void => {
      last = chunk;
      setImmediate(() => {
        if (!over) writeAnswer(response, chunk);
        last = undefined;
      });
    };
    const complete = (): void => {
      if (!begun) return fail(stopping());
      settle();
      exchange?.cancel();
      response.end();
      resolve();
    };
    const sink: ResponseSink = {
      informational: (status, received) => passInformational(response, status, received),
      head: (status, received) => {
        if (over) return;
        deadline.cancel();
        begun = true;
        trail?.head(status, received);
        left = Number(received['content-length']);
        beginAnswer(response, status, received);
      },
      data: (chunk) => {
        if (over) return;
        trail?.responseBody?.add(chunk);
        left -= chunk.length;
        if (left === 0) return hold(chunk);
        if (!writeAnswer(response, chunk)) exchange?.pause();
      },
      trailers: (received) => {
        if (!over) response.addTrailers(returnedHeaders(received) as never);
      },
      end: () => {
        if (over) return;
        settle();
        endAnswer(response, last);
        resolve();
      },
      fail,
    };
    response.once('close', abandon);
    response.on('drain', resume);
    ending?.addEventListener('abort', complete);
    if (ending?.aborted) return complete();
    backend.send(request.method ?? 'GET', request.url ?? '/', headers, body, sink).then((sent) => {
      exchange = sent;
      if (over) sent.cancel(); // the client was gone, or the time over, while a connection was made
    }, fail);
  });

/** RFC 9110 15.2: passed on where that can be. 100 is between neighbours; 101 belongs to upgrades. */
const passInformational = (response: ClientResponse, status: number, headers: IncomingHttpHeaders): void => {
  if (response.headersSent || status <= 101) return;
  if ('stream' in response) response.stream.additionalHeaders({ ...returnedHeaders(headers), ':status': status });
  else if (status === 102) response.writeProcessing();
  else if (status === 103 && headers.link !== undefined) response.writeEarlyHints({ link: headers.link });
};
