import type { Readable } from 'node:stream';
import { StatusError } from '../kube/status-error.ts';

/** As the kube-apiserver: 3 MiB of request body at the most. */
export const maxBodyBytes = 3 * 1024 * 1024;

/**
 * Reads a request's body, bounded. What comes beyond the limit is not read.
 * @throws StatusError 413, or 400 where the client broke off
 */
export const readBody = async (request: Readable, limit = maxBodyBytes): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw StatusError.badRequest(`unable to read the request body: ${(error as Error).message}`, error);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
};
