import type { Attributes, Authorizer, Decision } from './authorizer.ts';

const allowed: Decision = { allowed: true, reason: '' };

/** Allows members of the groups everything, as the kube-apiserver would, and asks `next` about all others. */
export const alwaysAllowGroups = (groups: readonly string[], next: Authorizer): Authorizer => ({
  authorize: (attributes) => (attributes.user.groups.some((group) => groups.includes(group)) ? Promise.resolve(allowed) : next.authorize(attributes)),
});

/**
 * Allows everybody the paths; a path that ends in `*` stands for all that begin so. Resources are never meant.
 * @throws Error where a `*` stands elsewhere
 */
export const alwaysAllowPaths = (paths: readonly string[], next: Authorizer): Authorizer => {
  const relative = paths.map(withoutSlash);
  for (const path of relative) {
    if (path.slice(0, -1).includes('*')) throw new Error(`only trailing * allowed in "${path}"`);
  }
  const whole = new Set(relative.filter((path) => !path.endsWith('*')));
  const beginnings = relative.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1));
  const matches = ({ isResourceRequest, path }: Attributes): boolean => {
    if (isResourceRequest) return false;
    const asked = withoutSlash(path);
    return whole.has(asked) || beginnings.some((beginning) => asked.startsWith(beginning));
  };
  return { authorize: (attributes) => (matches(attributes) ? Promise.resolve(allowed) : next.authorize(attributes)) };
};

const withoutSlash = (path: string): string => (path.startsWith('/') ? path.slice(1) : path);
