import type { PolicyRule } from '../../controller/permissions.ts';

/** Name of the ConfigMap in which replicas note what they are about to let in. */
export const ledgerName = 'tenant-apiserver-budgets';

/** In the server's own namespace. */
export const ledgerPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }, // a create cannot be bound to a name
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [ledgerName], verbs: ['get', 'update', 'patch'] },
];
