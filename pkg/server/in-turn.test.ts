import assert from 'node:assert/strict';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { describe, it } from 'mocha';
import { inTurn } from './in-turn.ts';

type Handler = RequestHandler | ErrorRequestHandler;

/** What becomes of a request that meets the handlers: who was called, and what failed. */
const served = async (...handlers: Handler[]): Promise<string[]> => {
  const seen: string[] = [];
  const plain = (handler: RequestHandler, index: number): RequestHandler => (request, response, next) => {
    seen.push(`handler ${index}`);
    return handler(request, response, next);
  };
  const ofErrors = (handler: ErrorRequestHandler, index: number): ErrorRequestHandler => (error, request, response, next) => {
    seen.push(`handler ${index} of ${String(error)}`);
    return handler(error, request, response, next);
  };
  const named = handlers.map((handler, index) => (handler.length > 3 ? ofErrors(handler as ErrorRequestHandler, index) : plain(handler as RequestHandler, index)));
  inTurn(named, () => seen.push('rest'), (error) => seen.push(`failed: ${String(error)}`))({} as Request, {} as Response);
  await new Promise((resolve) => setImmediate(resolve));
  return seen;
};

const pass: RequestHandler = (_request, _response, next) => next();
const wait: RequestHandler = async (_request, _response, next) => {
  await Promise.resolve();
  next();
};
const handOn: RequestHandler = (_request, _response, next) => next('why');
const fail: RequestHandler = () => {
  throw 'why';
};
const reject: RequestHandler = () => Promise.reject('why');
const answer: RequestHandler = () => undefined;
const passOn: ErrorRequestHandler = (error, _request, _response, next) => next(error);
const answerError: ErrorRequestHandler = (_error, _request, _response, _next) => undefined;
const letOff: ErrorRequestHandler = (_error, _request, _response, next) => next();

describe('handlers in turn', () => {
  const cases: { name: string; handlers: Handler[]; expected: string[] }[] = [
    { name: 'what nobody answers goes to the rest', handlers: [pass, pass], expected: ['handler 0', 'handler 1', 'rest'] },
    { name: 'who answers ends it', handlers: [pass, answer, pass], expected: ['handler 0', 'handler 1'] },
    { name: 'a handler may take its time', handlers: [wait, pass], expected: ['handler 0', 'handler 1', 'rest'] },
    { name: 'an error that is handed on fails the request', handlers: [handOn, pass], expected: ['handler 0', 'failed: why'] },
    { name: 'as does one that is thrown', handlers: [fail, pass], expected: ['handler 0', 'failed: why'] },
    { name: 'and one that is thrown later', handlers: [reject, pass], expected: ['handler 0', 'failed: why'] },
    { name: 'also from behind a handler that waits', handlers: [wait, fail], expected: ['handler 0', 'handler 1', 'failed: why'] },
    { name: 'an error meets the handlers of errors that follow, in turn', handlers: [passOn, fail, pass, passOn, passOn], expected: ['handler 1', 'handler 3 of why', 'handler 4 of why', 'failed: why'] },
    { name: 'who has answered for an error ends it', handlers: [fail, answerError, pass], expected: ['handler 0', 'handler 1 of why'] },
    { name: 'an error may be let off', handlers: [fail, letOff, pass], expected: ['handler 0', 'handler 1 of why', 'handler 2', 'rest'] },
    { name: 'without an error those are passed over', handlers: [pass, passOn, pass], expected: ['handler 0', 'handler 2', 'rest'] },
  ];
  for (const { name, handlers, expected } of cases) it(name, async () => assert.deepEqual(await served(...handlers), expected));
});
