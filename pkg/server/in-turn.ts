import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';

/** Takes one request of either version of HTTP. */
export type Serve = (request: Request, response: Response) => void;

/**
 * Handlers one after the other, as express calls them, without what express does besides: it gives each request and response
 * other prototypes, which makes every later look at them slow, and matches a path for each handler. An error goes to the
 * handlers of errors (four parameters) that follow. What none of them answers goes to `rest`, or to `fail` where there is an error.
 */
export const inTurn =
  (handlers: readonly (RequestHandler | ErrorRequestHandler)[], rest: Serve, fail: (error: unknown, request: Request, response: Response) => void): Serve =>
  (request, response) => {
    request.originalUrl = request.url; // where express keeps what no router has changed
    let at = 0;
    const failed = (thrown: unknown): void => next(thrown ?? new Error('a handler failed without saying why'));
    const next = (error?: unknown): void => {
      while (at < handlers.length && handlesErrors(handlers[at]!) !== (error !== undefined)) at += 1;
      const handler = handlers[at];
      at += 1;
      if (!handler) return error === undefined ? rest(request, response) : fail(error, request, response);
      try {
        const result: unknown = handlesErrors(handler) ? handler(error, request, response, next) : handler(request, response, next);
        if (result instanceof Promise) result.catch(failed);
      } catch (thrown) {
        failed(thrown);
      }
    };
    next();
  };

const handlesErrors = (handler: RequestHandler | ErrorRequestHandler): handler is ErrorRequestHandler => handler.length > 3;
