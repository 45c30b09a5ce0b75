import type { ManagedFieldsEntry, Status } from '../../api/meta/v1/types.ts';
import type { UserInfo } from '../authentication/user.ts';
import { withoutConfidential } from './confidential.ts';
import { apiVersion, reaches, type Event, type EventUser, type Level, type ObjectReference, type ResponseStatus, type Stage } from './event.ts';
import { goDuration, microTime, type Clock } from './micro-time.ts';
import type { RequestAudit } from './policy.ts';
import type { Sink } from './sink.ts';

/** What is known of a request when it is received. */
export interface RequestFacts {
  auditId: string;
  /** By the record's clock. */
  receivedAt: number;
  verb: string;
  /** Path and query as the client sent them. */
  requestUri: string;
  /** As the client sent it, in bytes of one character each. */
  userAgent: string;
  sourceAddresses: readonly string[];
  /** Absent where nobody could be authenticated. */
  user?: UserInfo;
  /** Absent where the request is not about a resource. */
  object?: ObjectReference;
}

/** From here on the time that a request took is told. */
const slowMs = 500;
const maxUserAgent = 1024;
const panicStatus: ResponseStatus = { metadata: {}, status: 'Failure', message: "APIServer panic'd: an unexpected error; see the server log", reason: 'InternalError', code: 500 };

/** Collects what becomes of one request, and sends an event at each stage. Only what the policy's level allows is kept. */
export class AuditRecord {
  readonly #facts: RequestFacts;
  readonly #audit: RequestAudit;
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #annotations: Map<string, string>;
  #object: ObjectReference | undefined;
  #impersonated: Pick<Event, 'impersonatedUser' | 'authenticationMetadata'> = {};
  #status: ResponseStatus | undefined;
  #requestObject: unknown;
  #responseObject: unknown;
  #begun = false;
  /** The request failed for a reason that nobody foresaw. */
  #panicked = false;
  /** Told once, when the code of the answer is known, and before the answer leaves. */
  onAnswered: (() => void) | undefined;

  /** @param annotations read at each stage: others may add to it in the meantime */
  constructor(facts: RequestFacts, audit: RequestAudit, sink: Sink, clock: Clock, annotations = new Map<string, string>()) {
    this.#facts = facts;
    this.#audit = audit;
    this.#sink = sink;
    this.#clock = clock;
    this.#annotations = annotations;
    this.#object = facts.object;
  }

  get level(): Level {
    return this.#audit.level;
  }

  /** Whether bodies of requests are kept. */
  get wantsRequest(): boolean {
    return reaches(this.level, 'Request');
  }

  /** Whether bodies of answers are kept: they need not be made available else. */
  get wantsResponse(): boolean {
    return reaches(this.level, 'RequestResponse');
  }

  /** Whether the code of the answer is known. */
  get answered(): boolean {
    return this.#begun;
  }

  get panicked(): boolean {
    return this.#panicked;
  }

  /** In whose name the request is made. @param constraint the verb of the constrained mode; empty for plain impersonation */
  impersonated(user: UserInfo, constraint: string): void {
    this.#impersonated = {
      impersonatedUser: eventUser(user),
      ...(constraint && { authenticationMetadata: { impersonationConstraint: constraint } }),
    };
  }

  /** The object in the request's body. What the path does not say of its identity is taken from it. */
  requestObject(object: object): void {
    this.#identify(object, true);
    if (this.wantsRequest) this.#requestObject = this.#recordable(object);
  }

  /** The patch in the request's body, decoded; undefined where it cannot be. It names no object. */
  requestPatch(patch: unknown): void {
    if (this.wantsRequest) this.#requestObject = withoutConfidential(patch, this.#object);
  }

  /** The body of the answer: an object, a list, a table, or a Status. */
  responseObject(object: object): void {
    if (isStatus(object)) {
      const { kind: _kind, apiVersion: _version, metadata: _metadata, ...status } = object;
      this.#status = { metadata: {}, ...status };
    }
    if (this.wantsResponse) this.#responseObject = this.#recordable(object);
  }

  /** The object that a write has made or changed: the request may know neither its uid nor its generated name. */
  written(object: object): void {
    this.#identify(object, false);
  }

  /** The answer begins. */
  responseCode(code: number): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#status = { ...this.#status, metadata: {}, code };
    this.onAnswered?.();
  }

  /** What became of a request that is not answered. */
  responseStatus(status: Omit<ResponseStatus, 'metadata'>): void {
    this.#status = { metadata: {}, ...status };
  }

  /** The request failed for a reason that nobody foresaw, which is for the log and not for events. */
  panic(): void {
    this.#panicked = true;
  }

  annotate(key: string, value: string): void {
    if (!this.#annotations.has(key)) this.#annotations.set(key, value);
  }

  /** Tells what a slow request took, in all and by parts. @param parts milliseconds by name, as `authorization` */
  annotateLatency(parts: ReadonlyMap<string, number>): void {
    const total = this.#clock() - this.#facts.receivedAt;
    if (total <= slowMs) return;
    for (const [name, took] of [...parts, ['total', total] as const]) this.annotate(`apiserver.latency.k8s.io/${name}`, goDuration(took));
  }

  /** Sends the event of a stage, unless the policy leaves it out. The answer is the sink's. */
  process(stage: Stage): boolean | Promise<boolean> {
    if (this.#audit.omitStages.has(stage)) return true;
    return this.#sink.process(this.#event(stage));
  }

  #event(stage: Stage): Event {
    const { auditId, receivedAt, requestUri, verb, user, sourceAddresses, userAgent } = this.#facts;
    const received = microTime(receivedAt);
    return {
      kind: 'Event',
      apiVersion,
      level: this.level,
      auditID: auditId,
      stage,
      requestURI: requestUri,
      verb,
      user: user ? eventUser(user) : {},
      ...this.#impersonated,
      ...(sourceAddresses.length > 0 && { sourceIPs: sourceAddresses }),
      ...(userAgent && { userAgent: shortened(userAgent) }),
      ...(this.#object && { objectRef: this.#object }),
      ...(this.#status && { responseStatus: stage === 'Panic' ? panicStatus : this.#status }),
      ...(this.#requestObject !== undefined && { requestObject: this.#requestObject }),
      ...(this.#responseObject !== undefined && { responseObject: this.#responseObject }),
      requestReceivedTimestamp: received,
      stageTimestamp: stage === 'RequestReceived' ? received : microTime(this.#clock()),
      ...(this.#annotations.size > 0 && { annotations: Object.fromEntries([...this.#annotations].toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
    };
  }

  #identify(object: object, withVersion: boolean): void {
    const { namespace, name, uid, resourceVersion } = (object as { metadata?: Record<string, string | undefined> }).metadata ?? {};
    const known = this.#object ?? {};
    this.#object = {
      ...known,
      ...pick('namespace', known.namespace || namespace),
      ...pick('name', known.name || name),
      ...pick('uid', known.uid || uid),
      ...pick('resourceVersion', known.resourceVersion || (withVersion ? resourceVersion : '')),
    };
  }

  #recordable(object: object): unknown {
    const open = withoutConfidential(object, this.#object) as object;
    return this.#audit.omitManagedFields ? withoutManagedFields(open) : open;
  }
}

const eventUser = ({ username, uid, groups, extra }: UserInfo): EventUser => ({
  ...pick('username', username),
  ...pick('uid', uid),
  ...(groups.length > 0 && { groups }),
  ...(Object.keys(extra).length > 0 && { extra }),
});

const pick = <K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> => (value ? ({ [key]: value } as Record<K, string>) : {});

/** Cut by bytes, then read as UTF-8. */
const shortened = (userAgent: string): string => {
  const cut = userAgent.length > maxUserAgent ? `${userAgent.slice(0, maxUserAgent)}...TRUNCATED` : userAgent;
  return Buffer.from(cut, 'latin1').toString('utf8');
};

const isStatus = (object: object): object is Status => (object as Partial<Status>).kind === 'Status' && (object as Partial<Status>).apiVersion === 'v1';

interface Managed {
  metadata?: { managedFields?: ManagedFieldsEntry[] };
  items?: Managed[];
  rows?: { object?: Managed }[];
}

/** Without managedFields in an object, in the items of a list, and in the objects of a table's rows. */
const withoutManagedFields = (object: Managed): Managed => {
  const { metadata, items, rows } = object;
  const { managedFields, ...rest } = metadata ?? {};
  return {
    ...object,
    ...(managedFields && { metadata: rest }),
    ...(Array.isArray(items) && { items: items.map(withoutManagedFields) }),
    ...(Array.isArray(rows) && { rows: rows.map((row) => (row.object ? { ...row, object: withoutManagedFields(row.object) } : row)) }),
  };
};
