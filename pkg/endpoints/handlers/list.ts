import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { apiVersionOf } from '../../../api/resource.ts';
import { contextOf } from '../context.ts';
import { listOffer, negotiate, type OutputFormat } from '../negotiation.ts';
import { encode, writeHead } from '../respond.ts';
import { table } from '../table.ts';
import { encodedEntry, encodedList } from './encodings.ts';
import { parseListOptions } from './list-options.ts';
import { readPage, type Page } from './read.ts';
import { includeObjectOf, queryOf, requestSignal, type RequestScope, type VerbHandler } from './scope.ts';

const compress = promisify(gzip);
/** As the kube-apiserver: smaller answers are not worth compressing. */
const minGzipBytes = 128 * 1024;

export const list: VerbHandler = async (scope, request, response) => {
  const query = queryOf(request);
  const format = negotiate(request.headers.accept, query, request.headers['user-agent'], listOffer);
  const options = parseListOptions(query, contextOf(response).requestInfo, scope.definition, false);
  const page = await readPage(scope.store, options, requestSignal(response, 60_000));
  await sendList(scope, request, response, page, format);
};

/** Writes a page of objects in the form that was asked for, compressed where the client takes that. */
export const sendList = async (scope: RequestScope, request: Request, response: Response, page: Page, format: OutputFormat): Promise<void> => {
  const body = encodePage(scope, request, page, format);
  const headers: Record<string, string | number> = { 'content-type': format.mediaType };
  const gzipped = body.length >= minGzipBytes && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const bytes = gzipped ? await compress(body, { level: 1 }) : body;
  if (gzipped) Object.assign(headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  writeHead(response, 200, { ...headers, 'content-length': bytes.length });
  response.end(bytes);
};

const encodePage = (scope: RequestScope, request: Request, page: Page, format: OutputFormat): Buffer => {
  const metadata = {
    resourceVersion: String(page.version),
    ...(page.continue && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  };
  if (format.as?.kind === 'Table') {
    const items = page.entries.map((entry) => entry.object);
    const options = { now: scope.now(), include: includeObjectOf(queryOf(request)), apiVersion: `meta.k8s.io/${format.as.version}` };
    return Buffer.from(encode(table(scope.columns, { metadata, items }, options), format));
  }
  const [apiVersion, kind, listMeta] = format.as
    ? [`meta.k8s.io/${format.as.version}`, format.as.kind, metadata]
    : [apiVersionOf(scope.definition), scope.definition.listKind, { continue: '', ...metadata }];
  const bytes = encodedList(apiVersion, kind, listMeta, page.entries.map((entry) => encodedEntry(entry, format)));
  const plain = format.mediaType === 'application/json' && !format.pretty;
  return plain ? bytes : Buffer.from(encode(JSON.parse(bytes.toString('utf8')), format));
};
