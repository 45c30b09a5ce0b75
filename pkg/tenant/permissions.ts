import type { PolicyRule } from '../controller/permissions.ts';
import { accessLevels, dashboardRole, roleOf, serviceAccountRole } from './access-levels.ts';
import { apiServerSlice } from './observe.ts';
import { valuesName } from './values.ts';

const make = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const rbac = 'rbac.authorization.k8s.io';

/** What the tenants' part of the loop does in the host cluster. Records are the store's business. */
export const tenantPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['namespaces'], verbs: make },
  // Objects name a Namespace as an owner that waits for them (admission plugin OwnerReferencesPermissionEnforcement).
  { apiGroups: [''], resources: ['namespaces/finalizers'], verbs: ['update'] },
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: make },
  { apiGroups: [rbac], resources: ['rolebindings'], verbs: make },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [valuesName], verbs: make },
  { apiGroups: ['helm.toolkit.fluxcd.io'], resources: ['helmreleases'], verbs: make },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: make },
  { apiGroups: [''], resources: ['resourcequotas', 'limitranges'], verbs: make },
  { apiGroups: ['cilium.io'], resources: ['ciliumnetworkpolicies', 'ciliumclusterwidenetworkpolicies'], verbs: make },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], resourceNames: [apiServerSlice.name], verbs: ['list', 'watch'] },
  // To give what the server does not have itself, by these roles and no others.
  { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: [serviceAccountRole, ...accessLevels.map(roleOf)], verbs: ['bind'] },
  { apiGroups: [rbac], resources: ['roles'], resourceNames: [dashboardRole], verbs: ['bind'] },
];
