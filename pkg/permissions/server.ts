import { tenantGatewayRecords, tenantRecords } from '../../api/records/v1alpha1/records.ts';
import type { PolicyRule } from '../controller/permissions.ts';

/** Name of the Secret with the serving certificate that the replicas share. */
const servingSecretName = 'tenant-apiserver-serving';

const records = [tenantRecords, tenantGatewayRecords];
const { group } = tenantRecords;

/** What serving itself needs in the whole cluster. Reviews come with the role system:auth-delegator. */
export const serverPermissions: readonly PolicyRule[] = [
  { apiGroups: [group], resources: records.map(({ plural }) => plural), verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  { apiGroups: [group], resources: records.map(({ plural }) => `${plural}/status`), verbs: ['update', 'patch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['resourcequotas'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['resourcequotas/status'], verbs: ['update'] },
  {
    apiGroups: ['apiregistration.k8s.io'],
    resources: ['apiservices'],
    resourceNames: ['v1alpha1.apps.cozystack.io', 'v1alpha1.gateway.cozystack.io'],
    verbs: ['get', 'list', 'watch', 'patch'],
  },
];

/** What serving itself needs in its own namespace. */
export const servingSecretPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] }, // a create cannot be bound to a name
  { apiGroups: [''], resources: ['secrets'], resourceNames: [servingSecretName], verbs: ['list', 'watch', 'update'] },
];
