import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { DelegatedAuthentication } from '../authentication/delegated.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Log } from '../controller/log.ts';
import { contextOf } from '../endpoints/context.ts';
import { Deadlines } from '../endpoints/deadlines.ts';
import { timed, withAudit, withFailedAuthenticationAudit, withReceivedTime, type Auditing } from '../endpoints/filters/audit.ts';
import { withAuditId } from '../endpoints/filters/audit-id.ts';
import { withAuthentication } from '../endpoints/filters/authentication.ts';
import { withAuthorization } from '../endpoints/filters/authorization.ts';
import { withCacheControl } from '../endpoints/filters/cache-control.ts';
import { withImpersonation } from '../endpoints/filters/impersonation.ts';
import { isGone, withMaxInFlight } from '../endpoints/filters/max-in-flight.ts';
import { withPanicRecovery } from '../endpoints/filters/panic-recovery.ts';
import { withRequestInfo } from '../endpoints/filters/request-info.ts';
import { withRequestTimeout } from '../endpoints/filters/request-timeout.ts';
import type { FairQueue } from '../endpoints/flow/fair-queue.ts';
import type { RequestKind } from '../endpoints/flow/flow.ts';
import { sendStatus, statusOfError } from '../endpoints/respond.ts';
import { StatusError } from '../kube/status-error.ts';
import type { ServerMetrics } from './metrics.ts';
import type { ServerConfig } from './options.ts';
import type { RefusalLog } from './refusal-log.ts';

export interface ChainOptions {
  config: Pick<ServerConfig, 'requestTimeoutMs'>;
  queues: Readonly<Record<RequestKind, FairQueue>>;
  log: Log;
  refusals: RefusalLog;
  authentication: Pick<DelegatedAuthentication, 'authenticator' | 'identityHeaders'>;
  authorizer: Authorizer;
  metrics: ServerMetrics;
  /** Where requests are recorded. */
  auditing?: Auditing;
}

/** The only place that decides order: top to bottom, as a request meets them. Without a policy nothing of the audit is there. */
export const chain = ({ config, queues, log, refusals, authentication, authorizer, metrics, auditing }: ChainOptions): (RequestHandler | ErrorRequestHandler)[] => {
  const measured = (name: string, filter: RequestHandler): RequestHandler => (auditing ? timed(auditing.clock, name, filter) : filter);
  return [
    withPanicRecovery(log),
    ...(auditing ? [withReceivedTime(auditing.clock)] : []),
    withAuditId(),
    withRequestInfo(() => metrics.unreadable()),
    metrics.observe(),
    withRequestTimeout({ timeoutMs: config.requestTimeoutMs, deadlines: new Deadlines(), onExpired: (info) => metrics.terminated(info, 504) }),
    withCacheControl(),
    measured('authentication', withAuthentication({ ...authentication, log: (error, { socket }) => refusals.note('not authenticated', { err: error, peer: socket.remoteAddress }) })),
    ...(auditing ? [withFailedAuthenticationAudit(auditing), withAudit(auditing)] : []),
    measured('impersonation', withImpersonation(authorizer)),
    withMaxInFlight({ queues, onDropped: (kind, info) => metrics.dropped(kind, info) }),
    measured('authorization', withAuthorization(authorizer)),
  ];
};

/** Refusals that may be more than a client's mistake. */
const told = new Set([400, 403, 413, 429]);

/** The one renderer of errors: a Status for the client, and for what is not the client's fault a line in the log. */
export const errorHandler = (log: Log, refusals: RefusalLog): ErrorRequestHandler => (error: unknown, request, response, _next) => {
  const { requestInfo, user, auditId, audit } = contextOf(response);
  const foreseen = error instanceof StatusError;
  const what = { err: error, method: request.method, path: requestInfo?.path, user: user?.username, auditId };
  if (!foreseen || error.code >= 500) log.error({ ...what, cause: (error as Error | undefined)?.cause }, 'a request failed');
  else log.debug(what, 'a request was refused');
  if (foreseen && told.has(error.code)) refusals.note(String(error.code), what, 'info');
  const abandoned = !foreseen && isGone(response);
  if (!foreseen && !abandoned) audit?.panic();
  if (response.headersSent) response.destroy();
  else sendStatus(request, response, statusOfError(abandoned ? clientGone : error));
};

/** Nobody reads it; the audit does. */
const clientGone = new StatusError(504, 'Timeout', 'the client went away before the answer: what it asked for may have been done');
