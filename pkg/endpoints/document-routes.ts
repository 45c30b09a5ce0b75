import { Router, type Request, type RequestHandler, type Response } from 'express';
import { StatusError } from '../kube/status-error.ts';
import { contextOf } from './context.ts';
import { aggregatedContentTypes, discoveryDocuments } from './documents/discovery.ts';
import type { Document } from './documents/document.ts';
import { hashOf, hashedUrl, openApiV3Documents } from './documents/openapi-v3.ts';
import { openApiV2Documents } from './documents/openapi-v2.ts';
import type { ServedResource } from './documents/served.ts';
import { queryOf } from './handlers/scope.ts';
import { parseAccept } from './negotiation.ts';
import { sendBytes, sendPlainNotFound, sendValue, writeHead } from './respond.ts';

/** The kube-apiserver's OpenAPI aggregator, which merges all swagger documents into one. */
const aggregatorUser = 'system:aggregator';

/** Discovery (classic and aggregated) and OpenAPI v2 and v3: encoded once, answered with ETags. */
export const documentRoutes = (resources: readonly ServedResource[], productVersion: string): Router => {
  const router = Router();
  const discovery = discoveryDocuments(resources);
  router.get(['/apis', '/apis/'], (request, response) => {
    const version = aggregatedVersion(request.headers.accept);
    send(request, response, version ? discovery.aggregated[version] : discovery.byPath.get('/apis')!);
  });
  router.get(['/apis/:group', '/apis/:group/:version'], (request, response, next) => {
    const document = discovery.byPath.get(request.path.replace(/\/+$/, ''));
    if (document) send(request, response, document);
    else next();
  });

  const v3 = openApiV3Documents(resources, productVersion);
  router.get(['/openapi/v3', '/openapi/v3/'], (request, response) => send(request, response, v3.index));
  router.get('/openapi/v3/*path', (request, response, next) => {
    const path = request.path.slice('/openapi/v3/'.length).replace(/\/+$/, '');
    const document = v3.byGroupVersion.get(path);
    if (!document) return next();
    sendHashed(request, response, path, document);
  });

  const v2 = openApiV2Documents(resources, productVersion);
  router.get('/openapi/v2', (request, response) => {
    send(request, response, contextOf(response).user.username === aggregatorUser ? v2.forAggregator : v2.complete);
  });
  return router;
};

const send = (request: Request, response: Response, { bytes, contentType, etag }: Document): void => {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) {
    writeHead(response, 304, headers);
    response.end();
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendBytes(response, 200, contentType, bytes);
};

/** With the document's hash in the URL it may be kept for ever; with an outdated hash the client is sent to the new URL. */
const sendHashed = (request: Request, response: Response, path: string, document: Document): void => {
  const hash = queryOf(request).get('hash');
  if (hash && hash !== hashOf(document)) {
    writeHead(response, 301, { location: hashedUrl(path, document) });
    response.end();
    return;
  }
  if (hash) response.setHeader('expires', new Date(Date.now() + 365 * 24 * 3600 * 1000).toUTCString());
  send(request, response, document);
};

/** The version of aggregated discovery that an Accept header asks for, if it does so before classic discovery. */
const aggregatedVersion = (accept: string | undefined): keyof typeof aggregatedContentTypes | undefined => {
  for (const { subtype, parameters } of parseAccept(accept ?? '')) {
    if (parameters.g !== 'apidiscovery.k8s.io' || parameters.as !== 'APIGroupDiscoveryList') {
      if (subtype === 'json' || subtype === '*') return undefined;
      continue;
    }
    if (parameters.v === 'v2' || parameters.v === 'v2beta1') return parameters.v;
  }
  return undefined;
};

/** What nobody else answered. Below `/apis` the kube-apiserver's answer is a plain text. */
export const notFound: RequestHandler = (_request, response) => {
  if (contextOf(response).requestInfo.isResourceRequest) return sendPlainNotFound(response);
  const { status } = new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
  sendValue(response, 404, status, { mediaType: 'application/json', pretty: false }); // always JSON, and unknown to the audit
};
