import { createHash } from 'node:crypto';

/** A document that is the same for everybody until the server's version changes: encoded once, served many times. */
export interface Document {
  bytes: Buffer;
  contentType: string;
  /** In double quotes, as it stands in the ETag header. */
  etag: string;
}

export const encodeDocument = (value: unknown, contentType = 'application/json'): Document => {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return { bytes, contentType, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
};
