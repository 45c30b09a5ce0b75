import type { Request, Response } from 'express';
import type { GroupVersionKind, KubeObject } from '../../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../../api/resource.ts';
import type { AdmissionAttributes, AdmissionChain, Operation } from '../../admission/chain.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { Store } from '../../storage/store.ts';
import { ifFound, StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import { queryOf as queryValuesOf } from '../request-info.ts';
import type { StructuralSchema } from '../structural/schema.ts';
import type { Columns, IncludeObject } from '../table.ts';

/** All that the verb handlers need to know of one resource. */
export interface RequestScope {
  definition: ResourceDefinition;
  kind: GroupVersionKind;
  schema: StructuralSchema;
  columns: Columns;
  store: Store;
  admission: AdmissionChain;
  authorizer: Authorizer;
  /** Times in tables are relative to it. */
  now: () => Date;
}

export type VerbHandler = (scope: RequestScope, request: Request, response: Response) => Promise<void>;

/** Admission's view of the write that a request makes. */
export const attributesOf = (
  scope: RequestScope,
  response: Response,
  operation: Operation,
  part: Pick<AdmissionAttributes, 'name' | 'object' | 'oldObject' | 'dryRun'>,
): AdmissionAttributes => {
  const { requestInfo, user, auditAnnotations } = contextOf(response);
  return {
    ...part,
    operation,
    kind: scope.kind,
    resource: scope.definition.plural,
    subresource: requestInfo.subresource,
    namespace: requestInfo.namespace,
    undo: [],
    done: [],
    user,
    warn: warnerOf(response),
    annotate: (key, value) => void auditAnnotations.set(key, value),
  };
};

/** As the kube-apiserver gives a write, whatever the request itself may take. */
const storageTimeoutMs = 34_000;

/** Aborts when the client goes away before the answer is written, or after the time that a request may take. */
export const requestSignal = (response: Response, timeoutMs = storageTimeoutMs): AbortSignal => {
  const context = contextOf(response);
  const controller = new AbortController();
  const deadline = context.deadlines.after(timeoutMs, () => controller.abort(StatusError.timeout('request did not complete within requested timeout - context deadline exceeded')));
  context.breakOff = (reason) => controller.abort(reason);
  response.once('close', () => {
    deadline.cancel();
    if (!response.writableEnded) controller.abort(new Error('the client went away'));
  });
  return controller.signal;
};

/** Puts a text into the answer's `Warning` headers. */
export const warnerOf = (response: Response): ((text: string) => void) => {
  const { warnings } = contextOf(response);
  return (text) => void warnings.add(text);
};

/**
 * The object that a write is about to change. `cached` trusts the watch cache, which may be late: only for writes that
 * are bound to the version they saw, and that look again, at the live object, once that fails.
 * @returns undefined where there is none
 */
export const currentObject = async ({ store }: RequestScope, namespace: string, name: string, signal: AbortSignal, cached: boolean): Promise<KubeObject | undefined> => {
  const known = cached ? store.cache.get(namespace, name)?.object : undefined;
  if (known) return known;
  return ifFound(store.get(namespace, name, signal));
};

const queries = new WeakMap<Request, URLSearchParams>();

/** The query of a request as the kube-apiserver reads it: pairs that cannot be decoded are left out. */
export const queryOf = (request: Request): URLSearchParams => {
  let query = queries.get(request);
  if (!query) {
    query = new URLSearchParams([...queryValuesOf(request.originalUrl)].flatMap(([name, values]) => values.map((value): [string, string] => [name, value])));
    queries.set(request, query);
  }
  return query;
};

/**
 * How much of each object a table carries.
 * @throws StatusError 400
 */
export const includeObjectOf = (query: URLSearchParams): IncludeObject => {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw StatusError.badRequest(`Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`);
};
