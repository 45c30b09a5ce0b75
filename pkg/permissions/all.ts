import { eventPermissions, leasePermissions, type PolicyRule } from '../controller/permissions.ts';
import { gatewayPermissions } from '../gateway/permissions.ts';
import { tenantPermissions } from '../tenant/permissions.ts';
import { serverPermissions, servingSecretPermissions } from './server.ts';

/** Everything that the code asks of the kube-apiserver, by where it holds; manifests/server/rbac.yaml grants exactly this. */
export const permissions: { readonly cluster: readonly PolicyRule[]; readonly ownNamespace: readonly PolicyRule[] } = {
  cluster: [...serverPermissions, ...eventPermissions, ...tenantPermissions, ...gatewayPermissions],
  ownNamespace: [...leasePermissions, ...servingSecretPermissions],
};
