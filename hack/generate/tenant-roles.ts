import { stringify } from 'yaml';
import { tenantClusterRoles } from '../../pkg/tenant/roles.ts';
import type { GeneratedFile } from './record-crds.ts';

/** The ClusterRoles that tenants' RoleBindings name. */
export const tenantRoles = (): GeneratedFile => ({
  path: 'manifests/tenant-roles/clusterroles.yaml',
  text: `# Made from pkg/tenant/roles.ts by \`npm run update\`; do not edit.\n${tenantClusterRoles.map((role) => stringify(role, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')}`,
});
