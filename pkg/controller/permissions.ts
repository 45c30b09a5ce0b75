/** rbac.authorization.k8s.io/v1 PolicyRule, as far as it is used. */
export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  resourceNames?: readonly string[];
  verbs: readonly string[];
}

/** Name of the Lease that picks the leader. */
export const leaseName = 'tenant-apiserver';

/** In the server's own namespace. */
export const leasePermissions: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] }, // a create cannot be bound to a name
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [leaseName], verbs: ['get', 'update'] },
];

/** In all namespaces. */
export const eventPermissions: readonly PolicyRule[] = [{ apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] }];
