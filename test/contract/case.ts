import type { Kind } from './sides.ts';

/**
 * One request. Texts may hold `<all>` (the collection in the case's namespace), `<every>` (over all namespaces), `<one>` (the
 * object of the case's name), `<root>`, `<name>`, `<namespace>`, `<kind>`, `<plural>`, `<group>`, `<apiVersion>`, and values out of
 * the same side's earlier answers, as in `<0.metadata.uid>`.
 */
export interface Request {
  method?: string;
  path: string;
  /** Content-Type; JSON if left out and there is a body. */
  type?: string;
  /** JSON if left out; null for no such header. */
  accept?: string | null;
  headers?: Record<string, string>;
  /** Text and bytes are sent as they are, anything else as JSON. */
  body?: unknown;
  /** Sent again and again until the answer's body is this way; only the last answer counts. */
  until?: (body: any) => boolean;
  /** At a replica itself instead of through the kube-apiserver; the twin has but one server. */
  replica?: true;
}

/** A watch that is open while other steps are carried out, and then until it has told enough or ends. */
export interface Watch extends Request {
  meanwhile: Step[];
  /** How many lines to wait for; without it, the server ends the watch. */
  lines?: number;
  /** Over WebSocket, with these subprotocols offered. */
  webSocket?: readonly string[];
}

export type Step = Request | Watch;

export interface Case {
  name: string;
  /** A TenantGateway if left out: it has no finalizer and no rules for names. */
  kind?: Kind;
  steps: readonly Step[];
  /** Whether it needs a namespace in which no other case makes anything. */
  alone?: true;
  /** Path of what is compared, where the rest of an answer tells of more than the case. */
  only?: (body: any) => unknown;
}

export const isWatch = (step: Step): step is Watch => 'meanwhile' in step;

/** A step as a test report shows it. */
export const stepText = ({ method = 'GET', path }: Step): string => `${method} ${path}`;
