/** What a person may be allowed in a tenant, each more than the one before. */
export const accessLevels = ['view', 'use', 'admin', 'super-admin'] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** The group whose members have a level in a tenant and in all below it. */
export const groupOf = (namespace: string, level: AccessLevel): string => `${namespace}-${level}`;

/** The ClusterRole of a level, and the name of its binding in each tenant's namespace. */
export const roleOf = (level: AccessLevel): string => `cozy:tenant:${level}`;

/** What a tenant's ServiceAccounts have, and the name of its binding. */
export const serviceAccountRole = 'cozy:tenant';

/** Cozystack's namespace of things that all tenants may see, and its Role there. */
export const publicNamespace = 'cozy-public';
export const dashboardRole = 'cozy:tenant:dashboard';
