import { createHash } from 'node:crypto';
import type { SubmitReview } from '../authentication/review.ts';
import { ReviewCache } from '../authentication/review-cache.ts';
import { StatusError } from '../kube/status-error.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import type { FieldRequirement, LabelRequirement } from './selectors.ts';

export interface SubjectAccessReviewOptions {
  submit: SubmitReview;
  allowTtlMs?: number;
  denyTtlMs?: number;
  cacheSize?: number;
  now?: () => number;
}

interface SelectorRequirement {
  key: string;
  operator: string;
  values?: readonly string[];
}

interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
  fieldSelector?: { requirements: SelectorRequirement[] };
  labelSelector?: { requirements: SelectorRequirement[] };
}

/** authorization.k8s.io/v1 SubjectAccessReviewSpec. */
export interface SubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

interface SubjectAccessReview {
  apiVersion: 'authorization.k8s.io/v1';
  kind: 'SubjectAccessReview';
  spec: SubjectAccessReviewSpec;
  status?: { allowed?: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}

/** What a caller chooses freely, beyond this length, is not worth a place in the cache. */
const maxCachedLength = 10_000;
const maxKeyLength = 1_024;

/** Asks the kube-apiserver, and keeps its answers for a while. */
export const subjectAccessReviewAuthorizer = (options: SubjectAccessReviewOptions): Authorizer => {
  const { submit, allowTtlMs = 10_000, denyTtlMs = 10_000, cacheSize = 8_192, now } = options;
  const cache = new ReviewCache<Decision>({ size: cacheSize, ttlMs: ({ allowed }) => (allowed ? allowTtlMs : denyTtlMs), now });
  const review = async (spec: SubjectAccessReviewSpec): Promise<Decision> => {
    const asked: SubjectAccessReview = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    try {
      return decisionOf(await submit('/apis/authorization.k8s.io/v1/subjectaccessreviews', asked));
    } catch (error) {
      throw StatusError.unavailable('the kube-apiserver could not be asked whether the request is permitted; try again', error);
    }
  };
  return {
    authorize(attributes) {
      const spec = specOf(attributes);
      return cache.get(keyOf(spec), () => review(spec), chosenLength(attributes) < maxCachedLength);
    },
  };
};

/** A user of a thousand groups makes a long question: what is kept of that is a digest. */
const keyOf = (spec: SubjectAccessReviewSpec): string => {
  const question = JSON.stringify(spec);
  return question.length > maxKeyLength ? createHash('sha256').update(question).digest('base64') : question;
};

/** The review's question. Selectors only narrow: what cannot be expressed is left out, and the wider request is asked about. */
export const specOf = (attributes: Attributes): SubjectAccessReviewSpec => {
  const { user, isResourceRequest, verb, path } = attributes;
  return {
    ...(isResourceRequest ? { resourceAttributes: resourceAttributesOf(attributes) } : { nonResourceAttributes: { path, verb } }),
    user: user.username,
    ...(user.uid && { uid: user.uid }),
    groups: user.groups,
    extra: user.extra,
  };
};

const resourceAttributesOf = (attributes: Attributes): ResourceAttributes => {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name } = attributes;
  const fields = (attributes.fieldRequirements ?? []).map(fieldRequirement);
  const labels = (attributes.labelRequirements ?? []).flatMap(labelRequirement);
  return {
    ...(namespace && { namespace }),
    verb,
    ...(apiGroup && { group: apiGroup }),
    ...(apiVersion && { version: apiVersion }),
    resource,
    ...(subresource && { subresource }),
    ...(name && { name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
};

const fieldRequirement = ({ field, operator, value }: FieldRequirement): SelectorRequirement => ({ key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] });

const labelRequirement = ({ key, operator, values }: LabelRequirement): SelectorRequirement[] =>
  operator === 'Gt' || operator === 'Lt' ? [] : [{ key, operator, ...(values.length > 0 && { values }) }];

const decisionOf = ({ status = {} }: SubjectAccessReview): Decision => ({
  allowed: status.allowed === true && status.denied !== true,
  reason: status.reason ?? '',
  ...(status.evaluationError && { evaluationError: status.evaluationError }),
});

const chosenLength = ({ namespace, verb, apiGroup, apiVersion, resource, subresource, name, path }: Attributes): number =>
  namespace.length + verb.length + apiGroup.length + apiVersion.length + resource.length + subresource.length + name.length + path.length;
