import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Request, Response } from 'express';
import { apiVersionOf } from '../../../api/resource.ts';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import { deflatePiece, gzipParts, type GzipPiece } from '../gzip-pieces.ts';
import { negotiate, objectOffer, type OutputFormat } from '../negotiation.ts';
import { encode, sendParts } from '../respond.ts';
import { deflatedPage } from '../table-page.ts';
import { itemForm, itemGzipPieces, itemPieces, rowPages } from './encodings.ts';
import { parseListOptions } from './list-options.ts';
import { readPage, type Page } from './read.ts';
import { includeObjectOf, queryOf, requestSignal, type RequestScope, type VerbHandler } from './scope.ts';

const compress = promisify(gzip);
/** As the kube-apiserver: smaller answers are not worth compressing. */
const minGzipBytes = 128 * 1024;

export const list: VerbHandler = async (scope, request, response) => {
  const query = queryOf(request);
  const format = negotiate(request.headers.accept, query, request.headers['user-agent'], objectOffer);
  const options = parseListOptions(query, contextOf(response).requestInfo, scope.definition, false);
  const page = await readPage(scope.store, options, requestSignal(response, 60_000));
  await sendList(scope, request, response, page, format);
};

/** Writes a page of objects in the form that was asked for, compressed where the client takes that. */
export const sendList = async (scope: RequestScope, request: Request, response: Response, page: Page, format: OutputFormat): Promise<void> => {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (format.as?.kind === 'PartialObjectMetadata') {
    throw new StatusError(406, 'NotAcceptable', 'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)');
  }
  const { before, items, deflated, after } = listParts(scope, request, page, format);
  const { audit } = contextOf(response);
  if (audit?.wantsResponse) audit.responseObject(JSON.parse(Buffer.concat([before, ...withoutFirstComma(items), after]).toString('utf8')) as object);
  const plain = format.mediaType === 'application/json' && !format.pretty;
  const parts = [before, ...withoutFirstComma(items), after];
  if (!plain) {
    const body = encode(JSON.parse(Buffer.concat(parts).toString('utf8')), format);
    return takesGzip && body.length >= minGzipBytes ? sendGzipped(response, format, [await compress(body, { level: 1 })]) : sendParts(response, 200, { 'content-type': format.mediaType }, [body]);
  }
  if (!takesGzip || sizeOf(parts) < minGzipBytes) return sendParts(response, 200, { 'content-type': format.mediaType }, parts);
  const [head, pieces, tail] = await Promise.all([deflatePiece(before), deflated(), deflatePiece(after)]);
  sendGzipped(response, format, gzipParts([head, ...pieces, tail]));
};

const sendGzipped = (response: Response, { mediaType }: OutputFormat, parts: Buffer[]): void =>
  sendParts(response, 200, { 'content-type': mediaType, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, parts);

interface ListParts {
  before: Buffer;
  /** Each piece begins with a comma. */
  items: Buffer[];
  /** The same compressed, the first without its comma. */
  deflated: () => Promise<GzipPiece[]>;
  after: Buffer;
}

/** A list around its items, with the keys in the kube-apiserver's order. */
const listParts = (scope: RequestScope, request: Request, page: Page, { as }: OutputFormat): ListParts => {
  const metadata = {
    ...(!as && { continue: '' }),
    resourceVersion: String(page.version),
    ...(page.continue && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  };
  if (as?.kind === 'Table') {
    const apiVersion = `meta.k8s.io/${as.version}`;
    const columns = JSON.stringify(scope.columns.columnDefinitions);
    const pages = rowPages(page.entries, scope.columns, includeObjectOf(queryOf(request)), apiVersion, scope.now());
    return {
      before: Buffer.from(`{"kind":"Table","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[`),
      items: pages.map(({ bytes }) => bytes),
      deflated: () => Promise.all(pages.map((each, index) => deflatedPage(each, index === 0))),
      after: Buffer.from(']}\n'),
    };
  }
  const [apiVersion, kind] = as ? [`meta.k8s.io/${as.version}`, as.kind] : [apiVersionOf(scope.definition), scope.definition.listKind];
  return {
    before: Buffer.from(`{"apiVersion":"${apiVersion}","items":[`),
    items: itemPieces(page.entries, itemForm(as)),
    deflated: () => itemGzipPieces(page.entries, itemForm(as)),
    after: Buffer.from(`],"kind":"${kind}","metadata":${JSON.stringify(metadata)}}\n`),
  };
};

const withoutFirstComma = ([first, ...others]: Buffer[]): Buffer[] => (first ? [first.subarray(1), ...others] : []);

const sizeOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);
