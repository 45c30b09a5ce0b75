import type { PolicyRule } from '../controller/permissions.ts';
import { accountSecretName } from './account.ts';
import { secretAccessPermissions } from './secrets/permissions.ts';

const gatewayApi = ['gateway.networking.k8s.io'];
const routes = ['httproutes', 'grpcroutes', 'tlsroutes'];

/** What the gateways' part of the loop does in the host cluster. */
export const gatewayPermissions: readonly PolicyRule[] = [
  { apiGroups: gatewayApi, resources: ['gateways'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { apiGroups: gatewayApi, resources: ['httproutes', 'listenersets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: gatewayApi, resources: ['grpcroutes', 'tlsroutes', 'gatewayclasses'], verbs: ['list', 'watch'] },
  { apiGroups: gatewayApi, resources: routes.map((plural) => `${plural}/status`), verbs: ['patch'] },
  { apiGroups: ['cert-manager.io'], resources: ['certificates/status'], verbs: ['patch'] }, // to have one issued anew
  { apiGroups: ['cert-manager.io'], resources: ['issuers', 'certificates'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [accountSecretName], verbs: ['list', 'watch', 'patch'] },
  // Labels of namespaces that are no tenant's.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch', 'patch'] },
  // Objects name a TenantGateway as an owner that waits for them (admission plugin OwnerReferencesPermissionEnforcement).
  { apiGroups: ['gateway.cozystack.io'], resources: ['tenantgateways/finalizers'], verbs: ['update'] },
  ...secretAccessPermissions,
];
