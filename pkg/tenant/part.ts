import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, fieldManager, isManaged, managedBy, type RestResource } from '../controller/apply.ts';
import type { Informer, InformerOptions } from '../controller/informer.ts';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { Inherited } from './inheritance.ts';
import { tenantUidLabel } from './names.ts';

/** The kinds of objects that a tenant gets besides its namespace and gateway, by the resources that they are. */
export const partResources = {
  serviceAccount: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
  roleBinding: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', plural: 'rolebindings' },
  values: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
  module: { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', plural: 'helmreleases' },
  networkPolicy: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
  resourceQuota: { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' },
  limitRange: { apiVersion: 'v1', kind: 'LimitRange', plural: 'limitranges' },
  ciliumPolicy: { apiVersion: 'cilium.io/v2', kind: 'CiliumNetworkPolicy', plural: 'ciliumnetworkpolicies' },
  ciliumClusterPolicy: { apiVersion: 'cilium.io/v2', kind: 'CiliumClusterwideNetworkPolicy', plural: 'ciliumclusterwidenetworkpolicies' },
} as const satisfies Record<string, RestResource>;
export type PartKind = keyof typeof partResources;
export const partKinds = Object.keys(partResources) as PartKind[];

/** An object that a tenant is to have. */
export interface Part {
  what: PartKind;
  desired: KubeObject;
}

/** What parts are made from. */
export interface PartContext {
  tenant: Tenant;
  /** The tenant's own, which all parts belong to. */
  namespace: KubeObject;
  /** Namespaces of the tenants above, root's first. */
  ancestors: readonly string[];
  inherited: Inherited;
}

/** A part: in the tenant's namespace where no other is given; '' for an object of the whole cluster. */
export const part = (
  what: PartKind,
  { tenant, namespace }: Pick<PartContext, 'tenant' | 'namespace'>,
  name: string,
  content: object,
  { place = namespace.metadata.name!, labels = {} }: { place?: string; labels?: Record<string, string> } = {},
): Part => {
  const { apiVersion, kind } = partResources[what];
  const metadata = { name, ...(place && { namespace: place }), labels: { ...labels, ...managedBy, [tenantUidLabel]: tenant.metadata.uid! }, ownerReferences: ownedBy(namespace) };
  return { what, desired: { apiVersion, kind, metadata, ...content } };
};

/** Namespaces are owners of all that comes with them, wherever it is: with one goes the other. */
export const ownedBy = ({ metadata: { name, uid } }: KubeObject) => [{ apiVersion: 'v1', kind: 'Namespace', name: name!, uid: uid!, controller: true, blockOwnerDeletion: true }];

/** Whether a part was made for this namespace. One whose owner somebody took off still has our marks. */
export const isPartOurs = (object: KubeObject, tenant: Tenant, namespace: KubeObject): boolean => {
  const owner = controllerOf(object);
  return owner ? owner.uid === namespace.metadata.uid : isManaged(object) && object.metadata.labels?.[tenantUidLabel] === tenant.metadata.uid;
};

export type PartCaches = Record<PartKind, Informer>;

/** @param statusOf what is looked at of the status of parts of this kind */
export const partInformer = (statusOf: (object: KubeObject) => unknown = () => undefined): InformerOptions<KubeObject> => ({
  indexes: {
    namespace: ({ metadata }) => [metadata.namespace ?? ''].filter(Boolean),
    owner: (object) => [controllerOf(object)?.uid ?? ''].filter(Boolean),
  },
  keep: (object) => ({ ...object, status: statusOf(object), metadata: { ...object.metadata, managedFields: object.metadata.managedFields?.filter(({ manager }) => manager === fieldManager) } }),
});

/** The key of a part among those that were made. */
export const partKey = (what: PartKind, { metadata: { namespace = '', name } }: KubeObject): string => `${what} ${namespace}/${name}`;

/** What there is of a tenant's parts, ours or not, as far as the caches know. */
export const partsIn = (caches: PartCaches, namespace: KubeObject): Map<string, { what: PartKind; object: KubeObject }> => {
  const found = new Map<string, { what: PartKind; object: KubeObject }>();
  for (const what of partKinds) {
    for (const object of [...caches[what].byIndex('namespace', namespace.metadata.name!), ...caches[what].byIndex('owner', namespace.metadata.uid!)])
      found.set(partKey(what, object), { what, object });
  }
  return found;
};

/** The name of the tenant's namespace that a part belongs to. */
export const namespaceOfPart = (object: KubeObject): string | undefined => {
  const owner = controllerOf(object);
  return owner?.kind === 'Namespace' ? owner.name : object.metadata.namespace;
};

/** All of a part that is compared with what it should be. */
export const partMatter = ({ metadata: { labels, annotations, ownerReferences, deletionTimestamp }, ...rest }: KubeObject): unknown => [labels, annotations, ownerReferences, deletionTimestamp, rest];
