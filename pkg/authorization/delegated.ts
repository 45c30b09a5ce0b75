import { reviewsBy, type SubmitReview } from '../authentication/review.ts';
import type { KubeClient } from '../kube/client.ts';
import { alwaysAllowGroups, alwaysAllowPaths } from './always-allow.ts';
import type { Authorizer } from './authorizer.ts';
import { subjectAccessReviewAuthorizer } from './subject-access-review.ts';

export interface DelegatedAuthorizationOptions {
  client: KubeClient;
  /** Paths that everybody may ask for; a `*` at the end stands for the rest. */
  alwaysAllowPaths?: readonly string[];
  /** Groups whose members may do everything. */
  alwaysAllowGroups?: readonly string[];
  allowTtlMs?: number;
  denyTtlMs?: number;
  now?: () => number;
  submit?: SubmitReview;
}

const defaultAlwaysAllowPaths = ['/healthz', '/readyz', '/livez'] as const;
const defaultAlwaysAllowGroups = ['system:masters'] as const;

export interface DelegatedAuthorization {
  authorizer: Authorizer;
}

/** Authorization by the kube-apiserver: SubjectAccessReview behind the groups and paths that need none. */
export const delegatedAuthorization = (options: DelegatedAuthorizationOptions): DelegatedAuthorization => {
  const { client, alwaysAllowPaths: paths = defaultAlwaysAllowPaths, alwaysAllowGroups: groups = defaultAlwaysAllowGroups } = options;
  const review = subjectAccessReviewAuthorizer({ ...options, submit: options.submit ?? reviewsBy(client) });
  return { authorizer: alwaysAllowGroups(groups, alwaysAllowPaths(paths, review)) };
};
