import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse, OutgoingHttpHeaders } from 'node:http2';

/**
 * Begins an answer with these headers and those that were set before. Over HTTP/2, Node's compatibility layer keeps each stream open for
 * trailers, which costs a frame, a TLS record and a system call an answer: without them the end comes with the body.
 */
export const sendHead = (
  response: ServerResponse | Http2ServerResponse,
  code: number,
  headers: OutgoingHttpHeaders,
  mayHaveTrailers = headers['content-length'] === undefined,
): void => {
  const stream = 'stream' in response ? response.stream : undefined;
  if (!stream || mayHaveTrailers || stream.destroyed || stream.closed) return void (response as ServerResponse).writeHead(code, headers);
  response.statusCode = code;
  stream.respond({ ...response.getHeaders(), ...headers, ':status': code });
};
