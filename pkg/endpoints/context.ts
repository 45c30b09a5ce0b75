import type { Response } from 'express';
import type { AuditRecord } from '../audit/record.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Deadlines } from './deadlines.ts';
import type { RequestInfo } from './request-info.ts';

/** What filters and handlers know of one request; each field is filled by the filter that its comment names. */
export interface RequestContext {
  /** withAuditId */
  auditId: string;
  /** withRequestInfo */
  requestInfo: RequestInfo;
  /** withRequestTimeout */
  deadlines: Deadlines;
  /** requestSignal: breaks off what is being done for the request. */
  breakOff?: (reason: Error) => void;
  /** withReceivedTime, where requests are audited: milliseconds with a fraction, by the audit's clock. */
  receivedAt?: number;
  /** Filters that are timed, where requests are audited: milliseconds by filter. */
  latencies?: Map<string, number>;
  /** withAudit, where the policy wants the request recorded. */
  audit?: AuditRecord;
  /** withAuthentication; after withImpersonation the user in whose name the request is made. */
  user: UserInfo;
  /** withImpersonation: who asked, where `user` is somebody else. */
  impersonator?: UserInfo;
  /** Texts for `Warning` headers, in order, without repetition. */
  warnings: Set<string>;
  /** The listener, where the client asked for another protocol: what it has sent of that already. */
  upgradeHead?: Buffer;
  /** Annotations for the audit event: authorization decision, admission. */
  auditAnnotations: Map<string, string>;
}

const contexts = new WeakMap<object, Partial<RequestContext>>();

/**
 * The context of a request, made at first sight. A field is there once its filter has run: the chain's order
 * guarantees it for everything behind.
 */
export const contextOf = (response: Response): RequestContext => {
  let context = contexts.get(response);
  if (!context) {
    context = { warnings: new Set(), auditAnnotations: new Map() };
    contexts.set(response, context);
  }
  return context as RequestContext;
};
