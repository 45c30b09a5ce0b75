import type { RequestHandler, Response } from 'express';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import type { FairQueue, Place } from '../flow/fair-queue.ts';
import { isExempt, isWatch, requestKindOf, type RequestKind } from '../flow/flow.ts';
import type { RequestInfo } from '../request-info.ts';

export interface MaxInFlightOptions {
  queues: Readonly<Record<RequestKind, FairQueue>>;
  isLongRunning?: (info: RequestInfo) => boolean;
  /** Sees each request that is turned away. */
  onDropped?: (kind: RequestKind, info: RequestInfo) => void;
}

/**
 * Lets so many requests in at a time; others wait their turn, each user's in a queue of its own (see FairQueue), or are answered 429. Watches are
 * not counted, nor is what is exempt.
 */
export const withMaxInFlight = ({ queues, isLongRunning = isWatch, onDropped = () => undefined }: MaxInFlightOptions): RequestHandler =>
  (_req, res, next) => {
    const { requestInfo, user } = contextOf(res);
    const kind = requestKindOf(requestInfo);
    const queue = queues[kind];
    if (queue.limits.maxInFlight === 0 || isLongRunning(requestInfo) || isExempt(requestInfo, user)) return next();
    if (isGone(res)) return; // its close event has passed: a place taken now would never be given back
    const refuse = (): void => {
      onDropped(kind, requestInfo);
      next(StatusError.tooManyRequests('Too many requests, please try again later.'));
    };
    const place = queue.enter(user.username, sortOf(requestInfo), next, refuse);
    if (place.state === 'over') return refuse();
    follow(res, place);
    if (place.state === 'executing') next();
  };

const sorts = new Set(['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection']);

/** Bounded, whatever a client sends. */
const sortOf = ({ verb, isResourceRequest }: RequestInfo): string => (isResourceRequest && sorts.has(verb) ? verb : '');

/** Tells a place when the answer is complete, and when it is over. */
const follow = (res: Response, place: Place): void => {
  const { end } = res as { end: (...args: unknown[]) => unknown };
  res.end = function (this: Response, ...args: unknown[]) {
    place.answered();
    return end.apply(this, args);
  } as Response['end'];
  res.once('close', () => place.over());
};

/** Whether the client, or the answer, is over. */
export const isGone = (res: Response): boolean => {
  const { stream } = res as { stream?: { destroyed: boolean; closed: boolean } };
  return res.closed || res.destroyed || stream?.destroyed === true || stream?.closed === true;
};
