import type { IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../audit/micro-time.ts';
import { objectReference } from '../audit/object-reference.ts';
import type { PolicyEvaluator } from '../audit/policy.ts';
import { AuditRecord, type RequestFacts } from '../audit/record.ts';
import type { Sink } from '../audit/sink.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { RequestInfo } from '../endpoints/request-info.ts';
import { contentOf, type BodyContent } from './body-content.ts';
import { Capture } from './capture.ts';

export interface ProxyAuditOptions {
  evaluate: PolicyEvaluator;
  sink: Sink;
  clock: Clock;
  /** Of a request's or an answer's body; a larger one is left out of the event, which says so. */
  maxBodyBytes: number;
  /** Told how many bodies were left out. */
  onUnrecorded: (body: 'request' | 'response') => void;
}

/** What an event tells besides of the request as it came in. */
export type ProxiedFacts = Pick<RequestFacts, 'auditId' | 'requestUri' | 'userAgent' | 'sourceAddresses'>;

/** The mark that the kube-apiserver, too, sets on events without their bodies. */
const truncatedMark = 'audit.k8s.io/truncated';
const unrecorded = (body: 'request' | 'response'): string => `audit-proxy.cozystack.io/${body}-body-not-recorded`;

/** Records what passes through, in the name of the user whom the front vouches for. Nothing here holds up a request or fails it. */
export class ProxyAudit {
  readonly #options: ProxyAuditOptions;

  constructor(options: ProxyAuditOptions) {
    this.#options = options;
  }

  /**
   * Undefined where the policy records nothing of the request.
   * @param facts asked for where it does
   */
  begin(info: RequestInfo, user: UserInfo, facts: () => ProxiedFacts): Trail | undefined {
    const { evaluate, sink, clock } = this.#options;
    const audit = evaluate({ ...info, user });
    if (audit.level === 'None') return undefined;
    const record = new AuditRecord({ ...facts(), user, verb: info.verb, receivedAt: clock(), object: objectReference(info) }, audit, sink, clock);
    void record.process('RequestReceived');
    return new Trail(record, info.verb, this.#options);
  }
}

/** What a recorded request leaves behind, until its event can be made. */
export class Trail {
  /** Where bodies go as they pass; undefined where the policy's level does not want them. */
  readonly requestBody: Capture | undefined;
  readonly responseBody: Capture | undefined;
  readonly #record: AuditRecord;
  readonly #verb: string;
  readonly #options: ProxyAuditOptions;
  #head: { code: number; headers: IncomingHttpHeaders } | undefined;
  #ended = false;

  constructor(record: AuditRecord, verb: string, options: ProxyAuditOptions) {
    this.#record = record;
    this.#verb = verb;
    this.#options = options;
    const watching = verb === 'watch';
    if (record.level === 'Request' || record.wantsResponse) this.requestBody = new Capture(options.maxBodyBytes);
    if (record.wantsResponse && !watching) this.responseBody = new Capture(options.maxBodyBytes);
  }

  /** The answer begins. */
  head(code: number, headers: IncomingHttpHeaders): void {
    this.#head = { code, headers };
    this.#record.responseCode(code);
    if (this.#verb === 'watch') void this.#record.process('ResponseStarted');
  }

  /**
   * The request is over; later calls count for nothing. Bodies are read when the answer is on its way.
   * @param requestType content type of the request's body
   */
  end(requestType: string): void {
    if (this.#ended) return;
    this.#ended = true;
    setImmediate(() => void this.#finish(requestType));
  }

  async #finish(requestType: string): Promise<void> {
    const { maxBodyBytes } = this.#options;
    const { code = 0, headers = {} } = this.#head ?? {};
    if (this.requestBody) this.#keep('request', await contentOf(this.requestBody, requestType, '', maxBodyBytes));
    if (this.responseBody) this.#keep('response', await contentOf(this.responseBody, headers['content-type'] ?? '', headers['content-encoding'] ?? '', maxBodyBytes));
    if (code === 0) this.#record.responseStatus({ code: 200, status: 'Success', message: 'Connection closed early' });
    void this.#record.process('ResponseComplete');
  }

  #keep(body: 'request' | 'response', content: BodyContent | undefined): void {
    if (!content) return;
    if ('unreadable' in content) {
      if (content.truncated) this.#record.annotate(truncatedMark, 'true');
      this.#record.annotate(unrecorded(body), content.unreadable);
      this.#options.onUnrecorded(body);
      return;
    }
    const { value } = content;
    if (body === 'request' && this.#verb === 'patch') this.#record.requestPatch(value);
    else if (typeof value !== 'object' || value === null) return;
    else if (body === 'request') this.#record.requestObject(value);
    else this.#answer(value);
  }

  #answer(value: object): void {
    const { kind, metadata } = value as { kind?: string; metadata?: { uid?: string } };
    if (kind !== 'Status' && metadata?.uid) this.#record.written(value); // a list or table has none
    this.#record.responseObject(value);
  }
}
