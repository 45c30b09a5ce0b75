import type { RequestHandler, Response } from 'express';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import type { RequestInfo } from '../request-info.ts';

export interface MaxInFlightOptions {
  /** Requests at a time that only read; 0: as many as come. */
  maxInFlight: number;
  /** Requests at a time that may change something; 0: as many as come. */
  maxMutatingInFlight: number;
  isLongRunning?: (info: RequestInfo) => boolean;
  /** Sees the number of requests under way whenever it changes. */
  observe?: (kind: 'reading' | 'mutating', inFlight: number) => void;
}

const readingVerbs = new Set(['get', 'list', 'watch']);
const privilegedGroup = 'system:masters';

/** Watches stay open for minutes, and cost nothing while they wait. */
export const isWatch = ({ verb }: RequestInfo): boolean => verb === 'watch';

/**
 * Answers 429 to what comes while too much is under way. Watches are not counted; `system:masters` always gets through, and is not
 * counted then.
 */
export const withMaxInFlight = ({ maxInFlight, maxMutatingInFlight, isLongRunning = isWatch, observe }: MaxInFlightOptions): RequestHandler => {
  const limits = { reading: maxInFlight, mutating: maxMutatingInFlight };
  const inFlight = { reading: 0, mutating: 0 };
  return (_req, res, next) => {
    const { requestInfo, user } = contextOf(res);
    const kind = readingVerbs.has(requestInfo.verb) ? 'reading' : 'mutating';
    if (isLongRunning(requestInfo) || limits[kind] === 0) return next();
    if (isGone(res)) return; // its close event has passed: a place taken now would never be given back
    if (inFlight[kind] >= limits[kind]) {
      if (user.groups.includes(privilegedGroup)) return next();
      throw StatusError.tooManyRequests('Too many requests, please try again later.');
    }
    const change = (by: 1 | -1): void => {
      inFlight[kind] += by;
      observe?.(kind, inFlight[kind]);
    };
    change(1);
    res.once('close', () => change(-1));
    next();
  };
};

/** Whether the client, or the answer, is over. */
const isGone = (res: Response): boolean => {
  const { stream } = res as { stream?: { destroyed: boolean; closed: boolean } };
  return res.closed || res.destroyed || stream?.destroyed === true || stream?.closed === true;
};
