import { stringify } from 'yaml';
import { gatewaySecretPermissions, secretsRole } from '../../pkg/gateway/secrets/permissions.ts';
import type { GeneratedFile } from './record-crds.ts';

/** The ClusterRole that the loop binds to itself where TLS ends. */
export const gatewayRole = (): GeneratedFile => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: secretsRole }, rules: gatewaySecretPermissions };
  const header = '# Made from pkg/gateway/secrets/permissions.ts by `npm run update`; do not edit. Nothing binds it to the whole cluster.\n';
  return { path: 'manifests/server/gateway-role.yaml', text: header + stringify(role, { lineWidth: 0 }) };
};
