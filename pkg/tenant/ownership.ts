import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, isManaged } from '../controller/apply.ts';
import { isRoot, namespaceOf, tenantUidLabel } from './names.ts';
import type { Parent } from './observed.ts';

/** The name of a tenant's own namespace. */
export const targetOf = ({ metadata: { namespace, name } }: Tenant): string => namespaceOf(namespace!, name!);

/** The namespace that owns a tenant's own. */
export const ownerOf = (parent: Parent): KubeObject | undefined => (parent.state === 'ready' ? parent.namespace : undefined);

export const isRootTenant = ({ metadata: { namespace, name } }: Tenant): boolean => isRoot(namespace!, name!);

/**
 * Whether a namespace was made for this very tenant. Root's comes with the manifests, marked as ours. Without the uid
 * (someone took the label off) our mark and the parent as controller say so; another tenant's uid never does.
 */
export const isOurs = (namespace: KubeObject, tenant: Tenant, parent?: KubeObject): boolean => {
  if (isRootTenant(tenant)) return isManaged(namespace);
  const uid = namespace.metadata.labels?.[tenantUidLabel];
  if (uid !== undefined) return uid === tenant.metadata.uid;
  return isManaged(namespace) && parent !== undefined && controllerOf(namespace)?.uid === parent.metadata.uid;
};

export const isGatewayOurs = (gateway: KubeObject, namespace: KubeObject): boolean => controllerOf(gateway)?.uid === namespace.metadata.uid;
