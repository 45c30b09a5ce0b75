import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import type { Request, Response } from 'express';
import { sourceAddresses } from '../audit/source-addresses.ts';
import { textOf } from '../authentication/headers.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Log } from '../controller/log.ts';
import { contextOf } from '../endpoints/context.ts';
import { Deadlines } from '../endpoints/deadlines.ts';
import { requestInfoOf, type RequestInfo } from '../endpoints/request-info.ts';
import { sendStatus, statusOfError } from '../endpoints/respond.ts';
import { StatusError } from '../kube/status-error.ts';
import type { RefusalLog } from '../server/refusal-log.ts';
import type { ProxyAudit, Trail } from './audit.ts';
import type { Backend } from './backend.ts';
import { cutOff, type ClientRequest, type ClientResponse } from './exchange.ts';
import { failureOf, statusOfFailure } from './failures.ts';
import { forward } from './forward.ts';
import { addForwardedFor, forwardedHeaders } from './hop.ts';
import { impersonationHeaders, type Projection } from './identity.ts';
import type { ProxyMetrics } from './metrics.ts';
import { RefusedError, type FrontTrust } from './trust.ts';
import { passUpgrade } from './upgrade.ts';

export interface HandlerOptions {
  trust: Pick<FrontTrust, 'userOf' | 'identityHeaders'>;
  token: { readonly current: string };
  projection: Projection;
  backend: Backend;
  audit: ProxyAudit;
  metrics: ProxyMetrics;
  /** Ends watches and upgraded connections, which nothing else would end. */
  stopping: AbortSignal;
  /** Milliseconds until an answer has to begin. */
  timeoutMs: number;
  log: Log;
  refusals: RefusalLog;
}

type Handler = (request: ClientRequest, response: ClientResponse) => void;

/** Passes each request that the front vouches for to the backend, in the name of its user. */
export const proxyHandler = (options: HandlerOptions): Handler => {
  const deadlines = new Deadlines();
  return (request, response) => {
    request.on('error', () => undefined); // that it is over is told by the answer's end
    serve(options, deadlines, request, response).catch((error: unknown) => {
      answerError(options, request, response, error);
    });
  };
};

const serve = async (options: HandlerOptions, deadlines: Deadlines, request: ClientRequest, response: ClientResponse): Promise<void> => {
  const { trust, audit } = options;
  const user = await trust.userOf(request);
  const info = requestInfo(request);
  const auditId = auditIdOf(request);
  const trail = audit.begin(info, user, () => ({
    auditId,
    requestUri: textOf(request.url ?? ''),
    userAgent: request.headers['user-agent'] ?? '',
    sourceAddresses: sourceAddresses(request.rawHeaders, request.socket.remoteAddress),
  }));
  const headers = backendHeaders(options, request, user, auditId);
  const head = contextOf(response as Response).upgradeHead;
  const long = head !== undefined || info.verb === 'watch';
  const ended = observed(options, info, response, long);
  const passed = { headers, trail, timeoutMs: options.timeoutMs };
  try {
    if (head === undefined) await forward(options.backend, { ...passed, request, response, deadlines, ending: long ? options.stopping : undefined });
    else await passUpgrade(options.backend, { ...passed, request: request as IncomingMessage, response: response as ServerResponse, head, ending: options.stopping });
  } catch (error) {
    const failure = failureOf(error);
    if (failure) options.metrics.failed(failure);
    const status = statusOfFailure(error);
    recordFailure(trail, status);
    throw status;
  } finally {
    ended();
    trail?.end(request.headers['content-type'] ?? '');
  }
};

/** @throws RefusedError, StatusError */
const requestInfo = ({ method, url = '' }: ClientRequest): RequestInfo => {
  if (!url.startsWith('/')) throw new RefusedError('bad_target', 'the target is not a path');
  if (method === 'CONNECT' || method === 'TRACE') throw new RefusedError('bad_target', `method ${method}`);
  return requestInfoOf(method ?? 'GET', url);
};

/** Long enough for every id that is one; a longer one would only fill logs. */
const maxAuditId = 64;

const auditIdOf = ({ headers }: ClientRequest): string => {
  const given = headers['audit-id'];
  return typeof given === 'string' && given !== '' && given.length <= maxAuditId ? given : randomUUID();
};

const backendHeaders = ({ trust, token, projection }: HandlerOptions, request: ClientRequest, user: UserInfo, auditId: string): OutgoingHttpHeaders => {
  const headers = forwardedHeaders(request.rawHeaders, trust.identityHeaders);
  addForwardedFor(headers, request.socket.remoteAddress);
  return Object.assign(headers, impersonationHeaders(user, projection), { authorization: `Bearer ${token.current}`, 'audit-id': auditId });
};

/** Counts a request from here on. @returns to be called when it is over */
const observed = ({ metrics }: HandlerOptions, { verb }: RequestInfo, response: ClientResponse, long: boolean): (() => void) => {
  const began = performance.now();
  if (long) metrics.longRunning(1);
  return () => {
    if (long) metrics.longRunning(-1);
    if (response.headersSent) metrics.forwarded(verb, response.statusCode, long ? undefined : (performance.now() - began) / 1000);
  };
};

const recordFailure = (trail: Trail | undefined, { status, code }: StatusError): void => {
  if (!trail) return;
  trail.head(code, { 'content-type': 'application/json' });
  trail.responseBody?.add(Buffer.from(JSON.stringify(status)));
};

const answerError = ({ metrics, log, refusals }: HandlerOptions, request: ClientRequest, response: ClientResponse, error: unknown): void => {
  const refused = error instanceof RefusedError;
  if (refused) {
    metrics.refused(error.refusal);
    const what = { reason: error.message, peer: request.socket.remoteAddress, auditId: auditIdOf(request) };
    log.debug({ ...what, why: error.refusal }, 'a request was refused');
    refusals.note(error.refusal, what);
  } else if (!(error instanceof StatusError) || error.code >= 500) {
    log.error({ err: error, cause: (error as Error).cause, method: request.method, path: request.url?.split('?', 1)[0] }, 'a request failed');
  }
  if (response.headersSent) return cutOff(response);
  if (response.destroyed) return;
  sendStatus(request as Request, response as Response, statusOfRefusal(error));
};

const statusOfRefusal = (error: unknown): ReturnType<typeof statusOfError> => {
  if (!(error instanceof RefusedError)) return statusOfError(error);
  return (error.refusal === 'bad_target' ? StatusError.badRequest(error.message) : StatusError.unauthorized()).status;
};
