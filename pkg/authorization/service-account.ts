import { isSubdomain } from './selectors.ts';

const prefix = 'system:serviceaccount:';

export interface ServiceAccountName {
  namespace: string;
  name: string;
}

/** The ServiceAccount that a user name stands for, if it stands for one. */
export const serviceAccountOf = (username: string): ServiceAccountName | undefined => {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace = '', name = '', ...rest] = username.slice(prefix.length).split(':');
  const valid = rest.length === 0 && namespace.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace) && isSubdomain(name);
  return valid ? { namespace, name } : undefined;
};

/** The groups of every ServiceAccount of a namespace. */
export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
