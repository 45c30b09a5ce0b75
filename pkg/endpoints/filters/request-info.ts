import type { RequestHandler } from 'express';
import { contextOf } from '../context.ts';
import { requestInfoOf } from '../request-info.ts';

/** Finds out what a request is about. All that follows goes by the result, never by the URL. What cannot be read goes no further, and is told. */
export const withRequestInfo = (onUnreadable: () => void = () => undefined): RequestHandler => (req, res, next) => {
  try {
    contextOf(res).requestInfo = requestInfoOf(req.method, req.originalUrl);
  } catch (error) {
    onUnreadable();
    throw error;
  }
  next();
};
