import type { Request, RequestHandler, Response } from 'express';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import type { Deadlines } from '../deadlines.ts';
import { isWatch } from '../flow/flow.ts';
import { goDurationMs } from '../go-duration.ts';
import { queryOf, type RequestInfo } from '../request-info.ts';
import { sendStatus } from '../respond.ts';

export interface RequestTimeoutOptions {
  timeoutMs: number;
  deadlines: Deadlines;
  isLongRunning?: (info: RequestInfo) => boolean;
  /** Sees each request that did not get to its end in time. */
  onExpired?: (info: RequestInfo) => void;
}

/** How long a handler has to say for itself that the time is over. */
const lastWordMs = 500;

/**
 * Ends requests that take too long, whoever is slow: 504 where no answer has begun, else it is cut off. A client may ask for less time by `timeout`.
 * What was sent to the host by then may have been done or not, as at the kube-apiserver.
 * @throws StatusError 400 where `timeout` is no duration
 */
export const withRequestTimeout = ({ timeoutMs, deadlines, isLongRunning = isWatch, onExpired = () => undefined }: RequestTimeoutOptions): RequestHandler =>
  (req, res, next) => {
    const context = contextOf(res);
    context.deadlines = deadlines;
    if (isLongRunning(context.requestInfo)) return next();
    let deadline = deadlines.after(Math.min(timeoutMs, wantedMs(req.originalUrl) || timeoutMs), () => {
      onExpired(context.requestInfo);
      const error = StatusError.timeout('request did not complete within the allotted timeout');
      context.breakOff?.(error);
      deadline = deadlines.after(lastWordMs, () => end(req, res, error));
    });
    res.once('close', () => deadline.cancel());
    next();
  };

const end = (req: Request, res: Response, error: StatusError): void => {
  if (res.headersSent) return void res.destroy();
  res.once('finish', () => req.destroy()); // a body that is still to come is not waited for
  if (req.httpVersionMajor < 2) res.setHeader('connection', 'close');
  sendStatus(req, res, error.status);
};

/** Undefined where nothing is asked for. */
const wantedMs = (url: string): number | undefined => {
  if (!url.includes('timeout=')) return undefined;
  const text = queryOf(url).get('timeout')?.[0];
  if (!text) return undefined;
  const ms = goDurationMs(text);
  if (ms === undefined) throw StatusError.badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`);
  return ms;
};
