import { caBundlePermissions, frontImpersonation, proxySecretPermissions, tenantImpersonation } from '../auditproxy/permissions.ts';
import { eventPermissions, leasePermissions, type PolicyRule } from '../controller/permissions.ts';
import { issuancePermissions } from '../gateway/issuance/permissions.ts';
import { gatewayPermissions } from '../gateway/permissions.ts';
import { ledgerPermissions } from '../tenant/quota/permissions.ts';
import { tenantPermissions } from '../tenant/permissions.ts';
import { serverPermissions, servingSecretPermissions } from './server.ts';

/** What a program asks of the kube-apiserver, by where it holds. */
export interface Permissions {
  readonly cluster: readonly PolicyRule[];
  readonly ownNamespace: readonly PolicyRule[];
}

/** Everything that tenant-apiserver asks; manifests/server/rbac.yaml grants exactly this. */
export const permissions: Permissions = {
  cluster: [...serverPermissions, ...eventPermissions, ...tenantPermissions, ...gatewayPermissions],
  ownNamespace: [...leasePermissions, ...servingSecretPermissions, ...ledgerPermissions, ...issuancePermissions],
};

/** Everything that audit-proxy asks as it is installed; manifests/audit-proxy/rbac.yaml grants exactly this. */
export const proxyPermissions: Permissions = {
  cluster: [...frontImpersonation, ...tenantImpersonation, ...caBundlePermissions],
  ownNamespace: proxySecretPermissions,
};
