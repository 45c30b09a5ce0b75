import type { Readable } from 'node:stream';
import { StatusError } from '../kube/status-error.ts';

/** As the kube-apiserver: 3 MiB of request body at the most. */
export const maxBodyBytes = 3 * 1024 * 1024;

/**
 * Reads a request's body, bounded. What comes beyond the limit is not read.
 * @throws StatusError 413, or 400 where the client broke off
 */
export const readBody = (request: Readable, limit = maxBodyBytes): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limit) fail(new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`));
    };
    const onEnd = (): void => {
      forget();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    const onError = (error: Error): void => fail(brokenOff(error.message, error));
    const onClose = (): void => fail(brokenOff('the client broke off'));
    const forget = (): void => void request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    const fail = (error: StatusError): void => {
      forget();
      request.pause();
      reject(error);
    };
    if (request.destroyed && !request.readableEnded) return onClose(); // its events have passed
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });

const brokenOff = (why: string, cause?: unknown): StatusError => StatusError.badRequest(`unable to read the request body: ${why}`, cause);
