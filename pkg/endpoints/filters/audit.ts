import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { textOf } from '../../authentication/headers.ts';
import type { AuditMetrics } from '../../audit/metrics.ts';
import type { Clock } from '../../audit/micro-time.ts';
import { objectReference } from '../../audit/object-reference.ts';
import type { PolicyEvaluator } from '../../audit/policy.ts';
import { AuditRecord } from '../../audit/record.ts';
import type { Sink } from '../../audit/sink.ts';
import { sourceAddresses } from '../../audit/source-addresses.ts';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf, type RequestContext } from '../context.ts';
import { isWatch } from '../flow/flow.ts';

export interface Auditing {
  evaluate: PolicyEvaluator;
  sink: Sink;
  metrics: AuditMetrics;
  clock: Clock;
}

/** How long the end of a request is waited for when its client is gone. */
const abandonedMs = 60_000;

/** Notes when a request came in. */
export const withReceivedTime = (clock: Clock): RequestHandler => (_req, res, next) => {
  contextOf(res).receivedAt = clock();
  next();
};

/** Notes how long a filter takes until it lets a request pass. */
export const timed = (clock: Clock, name: string, filter: RequestHandler): RequestHandler => (req, res, next) => {
  const began = clock();
  return filter(req, res, (error?: unknown) => {
    const { latencies } = contextOf(res);
    if (latencies) latencies.set(name, clock() - began);
    else contextOf(res).latencies = new Map([[name, clock() - began]]);
    next(error);
  });
};

/** Has each request recorded as the policy says. Comes after authentication: the policy goes by the user who really asks. */
export const withAudit = (auditing: Auditing): RequestHandler => async (req, res, next) => {
  const record = recordOf(auditing, req, res);
  if (!record) return next();
  let closed = false;
  res.once('close', () => {
    closed = true;
  });
  if (!(await record.process('RequestReceived'))) {
    auditing.metrics.rejected();
    throw StatusError.internal('failed to store audit event');
  }
  const context = contextOf(res);
  context.audit = record;
  const watching = isWatch(context.requestInfo);
  if (watching) record.onAnswered = () => void record.process('ResponseStarted');
  if (closed) return finish(context, res, watching);
  res.once('close', () => whenAnswered(record, watching, () => finish(context, res, watching)));
  next();
};

/** Has a request recorded whose user could not be authenticated: as one event, as the kube-apiserver does. */
export const withFailedAuthenticationAudit = (auditing: Auditing): ErrorRequestHandler => (error: unknown, req, res, next) => {
  const context: Partial<RequestContext> = contextOf(res);
  const record = context.requestInfo && context.auditId !== undefined && !context.user ? recordOf(auditing, req, res) : undefined;
  if (record) {
    context.audit = record;
    record.onAnswered = () => void record.process('ResponseStarted');
  }
  next(error);
};

const recordOf = ({ evaluate, sink, metrics, clock }: Auditing, req: Request, res: Response): AuditRecord | undefined => {
  const { requestInfo, user, auditId, receivedAt = clock(), auditAnnotations } = contextOf(res);
  const audit = evaluate({ ...requestInfo, user });
  metrics.level(audit.level);
  if (audit.level === 'None') return undefined;
  const facts = {
    auditId,
    receivedAt,
    verb: requestInfo.verb,
    requestUri: targetOf(req.originalUrl),
    userAgent: req.headers['user-agent'] ?? '',
    sourceAddresses: sourceAddresses(req.rawHeaders, req.socket.remoteAddress),
    user,
    object: objectReference(requestInfo),
  };
  return new AuditRecord(facts, audit, sink, clock, auditAnnotations);
};

/** Path and query, also where the target was sent in absolute form. */
const targetOf = (url: string): string => textOf(url.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/, ''));

/** A handler that goes on without its client still finds out what became of the request. */
const whenAnswered = (record: AuditRecord, watching: boolean, done: () => void): void => {
  if (record.answered || watching) return done();
  const limit = setTimeout(done, abandonedMs).unref();
  record.onAnswered = () => {
    clearTimeout(limit);
    record.onAnswered = undefined;
    done();
  };
};

const finish = ({ audit, latencies, impersonator }: RequestContext, res: Response, watching: boolean): void => {
  if (!audit) return;
  if (!audit.answered && res.headersSent) audit.responseCode(res.statusCode);
  if (!audit.answered) {
    audit.responseStatus({ code: 200, status: 'Success', message: 'Connection closed early' });
    if (watching) void audit.process('ResponseStarted');
  }
  if (!impersonator) latencies?.delete('impersonation'); // nothing was looked up
  if (!watching) audit.annotateLatency(latencies ?? new Map());
  void audit.process(audit.panicked ? 'Panic' : 'ResponseComplete');
};
