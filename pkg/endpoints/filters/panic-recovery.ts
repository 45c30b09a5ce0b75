import type { RequestHandler } from 'express';
import type { Log } from '../../controller/log.ts';
import { contextOf } from '../context.ts';

/**
 * Keeps errors of a request's streams away from the process: once the client is gone, or an answer was ended twice, nobody else
 * listens. What filters and handlers throw goes to the renderer by Express itself.
 */
export const withPanicRecovery = (log: Pick<Log, 'warn'>): RequestHandler => (req, res, next) => {
  const listen = (error: Error): void => log.warn({ err: error, method: req.method, auditId: contextOf(res).auditId }, 'the streams of a request failed');
  req.on('error', listen);
  res.on('error', listen);
  next();
};
