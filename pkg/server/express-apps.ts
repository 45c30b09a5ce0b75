import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import express, { type Express, type Router } from 'express';

/** The same router as one app for each version of HTTP. */
export interface Apps {
  http1: Express;
  http2: Express;
}

/**
 * Express gives each request the app's prototypes, which derive from the classes of node:http. The second app's derive
 * from the http2 compatibility classes instead, with the same methods of express' own on top.
 */
export const createApps = (router: Router): Apps => {
  const http1 = createApp(router);
  const http2 = createApp(router);
  http2.request = rebased(express.request, Http2ServerRequest.prototype, http2) as never;
  http2.response = rebased(express.response, Http2ServerResponse.prototype, http2) as never;
  return { http1, http2 };
};

const createApp = (router: Router): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser'); // brackets in parameters are plain text to Kubernetes
  app.use(router);
  return app;
};

const rebased = (methods: object, base: object, app: Express): object => {
  const prototype = Object.create(base, Object.getOwnPropertyDescriptors(methods)) as object;
  return Object.create(prototype, { app: { configurable: true, enumerable: true, writable: true, value: app } }) as object;
};
