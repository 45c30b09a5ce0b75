import type { PolicyRule } from '../../controller/permissions.ts';

/** ClusterRole that the loop binds to itself, by a RoleBinding, in each namespace that terminates TLS; and the name of that RoleBinding. */
export const secretsRole = 'tenant-apiserver:gateway-secrets';

/** What the loop does with Secrets in those namespaces, and nowhere else. */
export const gatewaySecretPermissions: readonly PolicyRule[] = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] }];

/** What it takes to bind that role. */
export const secretAccessPermissions: readonly PolicyRule[] = [
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: [secretsRole], verbs: ['bind'] },
];
