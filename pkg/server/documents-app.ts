import { Router, type ErrorRequestHandler, type RequestHandler } from 'express';
import { documentRoutes, notFound } from '../endpoints/document-routes.ts';
import type { ServedResource } from '../endpoints/documents/served.ts';
import { sendValue } from '../endpoints/respond.ts';
import { createApps, type Apps } from './express-apps.ts';
import { version } from './version.ts';

/** All that is not about objects: discovery, OpenAPI, version, metrics, and who asks for something else. Loaded when the first asks. */
export const documentsApp = (resources: readonly ServedResource[], metrics: RequestHandler, onError: ErrorRequestHandler): Apps => {
  const router = Router();
  router.use(documentRoutes(resources, version));
  router.get('/version', (_request, response) => sendValue(response, 200, versionDocument(), { mediaType: 'application/json', pretty: true }));
  router.get('/metrics', metrics);
  router.use(notFound);
  router.use(onError);
  return createApps(router);
};

const versionDocument = (): object => {
  const [major = '', minor = ''] = version.split('.');
  return { major, minor, gitVersion: `v${version}`, platform: `${process.platform}/${process.arch}`, compiler: `node ${process.version}` };
};
