import type { PolicyRule } from '../controller/permissions.ts';

/** What the tenants' part of the loop does in the host cluster. Records are the store's business. */
export const tenantPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  // Objects name a Namespace as an owner that waits for them (admission plugin OwnerReferencesPermissionEnforcement).
  { apiGroups: [''], resources: ['namespaces/finalizers'], verbs: ['update'] },
];
