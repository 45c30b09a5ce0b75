import { accessLevels, dashboardRole, groupOf, publicNamespace, roleOf, serviceAccountRole, type AccessLevel } from './access-levels.ts';
import { part, type Part, type PartContext } from './part.ts';

interface Subject {
  kind: 'Group' | 'ServiceAccount';
  name: string;
  apiGroup?: string;
  namespace?: string;
}

const rbac = 'rbac.authorization.k8s.io';
const group = (name: string): Subject => ({ apiGroup: rbac, kind: 'Group', name });
/** A tenant's ServiceAccount is called as its namespace. */
const serviceAccount = (namespace: string): Subject => ({ kind: 'ServiceAccount', name: namespace, namespace });

/**
 * Who may do what in a tenant: the groups of the tenant itself and of all above it, and their ServiceAccounts. A ServiceAccount's
 * token lies in every pod that mounts it, so that it has less than in Cozystack: at most `admin` at home, `view` below, and nowhere
 * what makes or deletes tenants.
 */
export const accessParts = (context: PartContext, { hasPublicNamespace }: { hasPublicNamespace: boolean }): Part[] => {
  const own = context.namespace.metadata.name!;
  const lineage = [...context.ancestors, own];
  const bind = (name: string, subjects: Subject[]): Part =>
    part('roleBinding', context, name, { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name }, subjects });
  return [
    part('serviceAccount', context, own, {}),
    bind(serviceAccountRole, lineage.map(serviceAccount)),
    ...accessLevels.map((level) => bind(roleOf(level), lineage.flatMap((namespace) => subjectsOf(namespace, level, namespace === own)))),
    ...(hasPublicNamespace ? [dashboardBinding(context, own)] : []),
  ];
};

const subjectsOf = (namespace: string, level: AccessLevel, isHome: boolean): Subject[] => {
  const mostOfServiceAccount: AccessLevel = isHome ? 'admin' : 'view';
  const groups = accessLevels.slice(accessLevels.indexOf(level)).map((each) => group(groupOf(namespace, each)));
  return [...(accessLevels.indexOf(level) <= accessLevels.indexOf(mostOfServiceAccount) ? [serviceAccount(namespace)] : []), ...groups];
};

const dashboardBinding = (context: PartContext, own: string): Part =>
  part(
    'roleBinding',
    context,
    `cozy:${own}:dashboard`,
    { roleRef: { apiGroup: rbac, kind: 'Role', name: dashboardRole }, subjects: [...accessLevels.map((level) => group(groupOf(own, level))), serviceAccount(own)] },
    { place: publicNamespace },
  );
