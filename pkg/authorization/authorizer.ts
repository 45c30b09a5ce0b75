import type { UserInfo } from '../authentication/user.ts';
import type { FieldRequirement, LabelRequirement } from './selectors.ts';

/** Who wants to do what. Of a non-resource request only user, verb and path count. */
export interface Attributes {
  user: UserInfo;
  isResourceRequest: boolean;
  verb: string;
  path: string;
  apiGroup: string;
  apiVersion: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  fieldRequirements?: readonly FieldRequirement[];
  labelRequirements?: readonly LabelRequirement[];
}

export interface Decision {
  allowed: boolean;
  /** Why, where the authorizer says; part of the refusal. */
  reason: string;
  /** What went wrong while rules were evaluated; for our log. */
  evaluationError?: string;
}

export interface Authorizer {
  /**
   * Whether the user may.
   * @throws StatusError 503 where that cannot be found out: never an allow
   */
  authorize: (attributes: Attributes) => Promise<Decision>;
}
