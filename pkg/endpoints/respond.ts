import type { Request, Response } from 'express';
import { stringify } from 'yaml';
import type { KubeObject, Status } from '../../api/meta/v1/types.ts';
import { StatusError } from '../kube/status-error.ts';
import { contextOf } from './context.ts';
import { negotiate, plainOffer, type MediaType, type OutputFormat } from './negotiation.ts';
import { encodeProtobuf } from './protobuf.ts';
import { sendHead } from './send-head.ts';

/** Longest text that goes into Warning headers, all together: clients cut headers off beyond some size. */
const maxWarningBytes = 4096;

/** Writes the head of a response, with the warnings that were gathered so far. */
export const writeHead = (response: Response, code: number, headers: Record<string, string | number>): void => {
  const context = contextOf(response);
  context.audit?.responseCode(code);
  const warnings = warningHeaders(context.warnings);
  if (warnings.length > 0) response.setHeader('warning', warnings);
  sendHead(response, code, headers);
};

/** `299 - "text"` a warning (RFC 9111 5.5, KEP-1693), cut where they get too long. */
const warningHeaders = (warnings: ReadonlySet<string>): string[] => {
  const headers: string[] = [];
  let size = 0;
  for (const warning of warnings) {
    const text = warning.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&');
    size += text.length;
    if (size > maxWarningBytes) break;
    headers.push(`299 - "${text}"`);
  }
  return headers;
};

export const sendBytes = (response: Response, code: number, mediaType: string, bytes: Buffer | string): void => {
  const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  writeHead(response, code, { 'content-type': mediaType, 'content-length': body.length });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

/** Writes a body that is already in parts, without joining them. */
export const sendParts = (response: Response, code: number, headers: Record<string, string | number>, parts: readonly Buffer[]): void => {
  writeHead(response, code, { ...headers, 'content-length': parts.reduce((sum, { length }) => sum + length, 0) });
  if (response.req.method !== 'HEAD') for (const part of parts) response.write(part);
  response.end();
};

/** Indented as Go's YAML packages do; texts that YAML 1.1 reads as something else are quoted. */
const yamlStyle = { aliasDuplicateObjects: false, sortMapEntries: true, indentSeq: false, version: '1.1' } as const;

/** The bytes of a value in the asked format, ended by a line feed as the kube-apiserver does. */
export const encode = (value: unknown, { mediaType, pretty }: Pick<OutputFormat, 'mediaType' | 'pretty'>): Buffer => {
  if (mediaType === 'application/vnd.kubernetes.protobuf') return encodeProtobuf(value as KubeObject);
  if (mediaType === 'application/yaml') return Buffer.from(stringify(value, yamlStyle));
  return Buffer.from(`${pretty ? JSON.stringify(value, undefined, 2) : JSON.stringify(value)}\n`);
};

export const sendValue = (response: Response, code: number, value: unknown, format: Pick<OutputFormat, 'mediaType' | 'pretty'>): void => {
  sendBytes(response, code, format.mediaType, encode(value, format));
};

/** Writes a refusal, as JSON where the client takes no Status in any form; as with the kube-apiserver, the audit knows only the code of that one. */
export const sendStatus = (request: Request, response: Response, status: Status): void => {
  const code = status.code ?? 500;
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter) response.setHeader('retry-after', String(retryAfter));
  const mediaType = statusType(request);
  if (mediaType) contextOf(response).audit?.responseObject(status);
  sendValue(response, code, status, { mediaType: mediaType ?? 'application/json', pretty: false });
};

const statusType = ({ headers }: Request): MediaType | undefined => {
  try {
    return negotiate(headers.accept, new URLSearchParams(), undefined, plainOffer).mediaType;
  } catch {
    return undefined;
  }
};

/** What the kube-apiserver says of a path that leads nowhere. */
export const sendPlainNotFound = (response: Response): void => {
  response.setHeader('x-content-type-options', 'nosniff');
  sendBytes(response, 404, 'text/plain; charset=utf-8', '404 page not found\n');
};

/** The Status of anything that was thrown; what is not a StatusError says nothing of itself to the client. */
export const statusOfError = (error: unknown): Status => {
  if (error instanceof StatusError) return error.status;
  return new StatusError(500, 'InternalError', 'Internal error occurred: an unexpected error; see the server log', {
    causes: [{ message: 'an unexpected error; see the server log' }],
  }).status;
};
