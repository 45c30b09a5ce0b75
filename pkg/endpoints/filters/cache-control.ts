import type { RequestHandler } from 'express';

/** Keeps answers out of caches, unless something else is said later. */
export const withCacheControl = (): RequestHandler => (_req, res, next) => {
  if (!res.hasHeader('cache-control')) res.setHeader('cache-control', 'no-cache, private');
  next();
};
