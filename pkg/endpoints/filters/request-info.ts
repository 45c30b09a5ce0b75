import type { RequestHandler } from 'express';
import { contextOf } from '../context.ts';
import { requestInfoOf } from '../request-info.ts';

/** Finds out what a request is about. All that follows goes by the result, never by the URL. */
export const withRequestInfo = (): RequestHandler => (req, res, next) => {
  contextOf(res).requestInfo = requestInfoOf(req.method, req.originalUrl);
  next();
};
