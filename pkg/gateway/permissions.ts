import type { PolicyRule } from '../controller/permissions.ts';

/** What the gateways' part of the loop does in the host cluster. Namespaces are read under the tenants' permissions. */
export const gatewayPermissions: readonly PolicyRule[] = [
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['gateways', 'httproutes'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['httproutes/status'], verbs: ['patch'] },
  { apiGroups: ['cert-manager.io'], resources: ['issuers', 'certificates'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  // Objects name a TenantGateway as an owner that waits for them (admission plugin OwnerReferencesPermissionEnforcement).
  { apiGroups: ['gateway.cozystack.io'], resources: ['tenantgateways/finalizers'], verbs: ['update'] },
];
