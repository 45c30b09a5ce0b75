import type { Status } from '../../api/meta/v1/types.ts';

/** How much of a request is recorded, from nothing to everything (audit.k8s.io/v1 Level). */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];

/** When an event is made (audit.k8s.io/v1 Stage). ResponseStarted is of long-running requests only. */
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

/** Whether a level records at least as much as another. */
export const reaches = (level: Level, least: Level): boolean => levels.indexOf(level) >= levels.indexOf(least);

/** authentication.k8s.io/v1 UserInfo; what is empty is absent. */
export interface EventUser {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a request is about; what is empty is absent. */
export interface ObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** A Status without its type, as events carry it. */
export type ResponseStatus = Pick<Status, 'metadata'> & Partial<Omit<Status, 'metadata' | 'kind' | 'apiVersion'>>;

/** audit.k8s.io/v1 Event, with its fields in the order in which the kube-apiserver writes them. Times are RFC 3339 with microseconds. */
export interface Event {
  kind: 'Event';
  apiVersion: typeof apiVersion;
  level: Level;
  auditID: string;
  stage: Stage;
  /** Path and query as the client sent them. */
  requestURI: string;
  verb: string;
  user: EventUser;
  impersonatedUser?: EventUser;
  authenticationMetadata?: {
    /** The verb of the constrained mode that allowed the impersonation (KEP-5284). */
    impersonationConstraint?: string;
  };
  sourceIPs?: readonly string[];
  userAgent?: string;
  /** Absent for requests that are not about resources. */
  objectRef?: ObjectReference;
  responseStatus?: ResponseStatus;
  /** From level Request on. */
  requestObject?: unknown;
  /** At level RequestResponse. */
  responseObject?: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Readonly<Record<string, string>>;
}

/** What a webhook is sent. */
export interface EventList {
  kind: 'EventList';
  apiVersion: typeof apiVersion;
  metadata: Record<string, never>;
  items: Event[];
}

export const apiVersion = 'audit.k8s.io/v1';
