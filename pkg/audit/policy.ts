import type { UserInfo } from '../authentication/user.ts';
import type { Level, Stage } from './event.ts';

/** audit.k8s.io/v1 Policy. The first rule that matches decides; where none does, nothing is recorded. */
export interface Policy {
  rules: readonly PolicyRule[];
  omitStages?: readonly Stage[];
  omitManagedFields?: boolean;
}

/** A request matches where it matches every field that is not empty. */
export interface PolicyRule {
  level: Level;
  users?: readonly string[];
  userGroups?: readonly string[];
  verbs?: readonly string[];
  resources?: readonly GroupResources[];
  /** The empty text stands for what is in no namespace. */
  namespaces?: readonly string[];
  /** Not together with resources or namespaces. A `*` at the end stands for whatever follows. */
  nonResourceURLs?: readonly string[];
  omitStages?: readonly Stage[];
  /** Absent: as the policy says. */
  omitManagedFields?: boolean;
}

export interface GroupResources {
  /** Absent or empty: the core group; `*`: every group. */
  group?: string;
  // pods, pods/log, pods/*, */scale, *; none: all of the group
  resources?: readonly string[];
  resourceNames?: readonly string[];
}

/** What a policy goes by: the request as its own user makes it, before any impersonation. */
export interface PolicyAttributes {
  /** Absent where nobody could be authenticated. */
  user?: Pick<UserInfo, 'username' | 'groups'>;
  verb: string;
  isResourceRequest: boolean;
  path: string;
  namespace: string;
  apiGroup: string;
  resource: string;
  subresource: string;
  name: string;
}

/** What a policy says of one request. */
export interface RequestAudit {
  level: Level;
  omitStages: ReadonlySet<Stage>;
  omitManagedFields: boolean;
}

export type PolicyEvaluator = (attributes: PolicyAttributes) => RequestAudit;

/** The evaluator of a policy, with the kube-apiserver's semantics. */
export const policyEvaluator = ({ rules, omitStages = [], omitManagedFields = false }: Policy): PolicyEvaluator => {
  const prepared = rules.map((rule) => ({
    rule,
    audit: {
      level: rule.level,
      omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
    },
  }));
  const unmatched: RequestAudit = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  return (attributes) => prepared.find(({ rule }) => matches(rule, attributes))?.audit ?? unmatched;
};

const matches = ({ users, userGroups, verbs, namespaces, resources, nonResourceURLs }: PolicyRule, attributes: PolicyAttributes): boolean => {
  const { user, verb } = attributes;
  if (users?.length && !(user && users.includes(user.username))) return false;
  if (userGroups?.length && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs?.length && !verbs.includes(verb)) return false;
  if (namespaces?.length || resources?.length) return matchesResource(namespaces ?? [], resources ?? [], attributes);
  if (nonResourceURLs?.length) return !attributes.isResourceRequest && nonResourceURLs.some((pattern) => matchesPath(pattern, attributes.path));
  return true;
};

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

const matchesResource = (namespaces: readonly string[], resources: readonly GroupResources[], attributes: PolicyAttributes): boolean => {
  const { isResourceRequest, namespace, apiGroup, name } = attributes;
  if (!isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(namespace)) return false;
  if (resources.length === 0) return true;
  return resources.some(({ group = '', resources: patterns = [], resourceNames = [] }) => {
    if (group !== apiGroup && group !== '*') return false;
    if (patterns.length === 0) return true;
    return (resourceNames.length === 0 || resourceNames.includes(name)) && patterns.some((pattern) => matchesPattern(pattern, attributes));
  });
};

const matchesPattern = (pattern: string, { resource, subresource }: PolicyAttributes): boolean => {
  if (pattern === '*' || pattern === (subresource ? `${resource}/${subresource}` : resource)) return true;
  return (subresource !== '' && pattern === `*/${subresource}`) || pattern === `${resource}/*`;
};
