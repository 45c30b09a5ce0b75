import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { isManaged } from '../controller/apply.ts';
import type { Informer, InformerOptions } from '../controller/informer.ts';
import { inheritAlong, type Inherited, type Node } from './inheritance.ts';
import { isCascading, isCordoned } from './marks.ts';
import { gatewayName, isRoot, namespaceOf, rootNamespace, tenantOf } from './names.ts';
import { publicNamespace } from './access-levels.ts';
import { isPartOurs, partKinds, partResources, partsIn, type PartCaches } from './part.ts';
import { isOurs } from './ownership.ts';
import type { Observed, Parent, Surroundings } from './observed.ts';
import type { TenantSettings } from './settings.ts';
import { handedDownBy, valuesName } from './values.ts';

/** What the tenants' part of the loop looks at. */
export interface TenantCaches {
  tenants: Informer<Tenant>;
  /** All namespaces, metadata only: also those that are not ours, so that none is taken over. */
  namespaces: Informer;
  gateways: Informer<TenantGateway>;
  /** What the loop made; of each kind, only what carries our label. */
  parts: PartCaches;
  /** HelmReleases of applications and modules, whoever made them; metadata only. */
  releases: Informer;
  /** EndpointSlice default/kubernetes. */
  apiServer: Informer<EndpointSlice>;
}

/** discovery.k8s.io/v1 EndpointSlice, as far as it is looked at. */
export interface EndpointSlice extends KubeObject {
  endpoints?: { addresses: string[] }[];
  ports?: { port?: number }[];
}

/** Where the kube-apiservers enter themselves. */
export const apiServerSlice = { resource: { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices' }, namespace: 'default', name: 'kubernetes' } as const;

export const tenantInformer: InformerOptions<Tenant> = {
  indexes: {
    /** Where the Tenant object lies: the children of a namespace's tenant. */
    namespace: ({ metadata }) => [metadata.namespace!],
    /** Its own namespace. */
    target: ({ metadata }) => [namespaceOf(metadata.namespace!, metadata.name!)],
  },
};

export const releaseInformer: InformerOptions<KubeObject> = {
  indexes: { namespace: ({ metadata }) => [metadata.namespace!] },
  keep: ({ metadata: { name, namespace, uid, resourceVersion, labels, finalizers, deletionTimestamp } }) => ({
    apiVersion: partResources.module.apiVersion,
    kind: partResources.module.kind,
    metadata: { name, namespace, uid, resourceVersion, labels, finalizers, deletionTimestamp },
  }),
};

export const observe = (caches: TenantCaches, settings: TenantSettings, tenant: Tenant): Observed => {
  const { namespace, name } = tenant.metadata;
  const own = namespaceOf(namespace!, name!);
  const object = caches.namespaces.get('', own);
  return {
    tenant,
    parent: parentOf(caches, tenant),
    inherited: inheritedBy(caches, tenant),
    namespace: object,
    gateway: caches.gateways.get(own, gatewayName),
    children: childrenOf(caches, tenant).toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1)),
    cascades: cascades(caches, tenant),
    releases: caches.releases.byIndex('namespace', own),
    left: '',
    made: object ? partsIn(caches.parts, object) : new Map(),
    surroundings: surroundingsOf(caches, settings, tenant),
  };
};

const surroundingsOf = (caches: TenantCaches, settings: TenantSettings, tenant: Tenant): Surroundings => {
  const { namespaces, parts, apiServer } = caches;
  const shared = namespaces.get('', publicNamespace);
  const { endpoints, ports } = apiServer.get(apiServerSlice.namespace, apiServerSlice.name) ?? {};
  return {
    settings,
    ...handedDownTo(caches, settings, tenant),
    apiServer: {
      addresses: (endpoints ?? []).flatMap(({ addresses }) => addresses).toSorted(),
      ports: (ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port])),
    },
    hasPublicNamespace: shared !== undefined && !shared.metadata.deletionTimestamp,
    missing: new Set(partKinds.filter((what) => parts[what].missing)),
  };
};

/** The Tenants that were created in a tenant's own namespace; root, which lives in its own, is no child of itself. */
export const childrenOf = ({ tenants }: Pick<TenantCaches, 'tenants'>, { metadata: { namespace, name, uid } }: Tenant): Tenant[] =>
  tenants.byIndex('namespace', namespaceOf(namespace!, name!)).filter((child) => child.metadata.uid !== uid);

/** The Tenant that a namespace belongs to. */
export const tenantOfNamespace = ({ tenants }: Pick<TenantCaches, 'tenants'>, namespace: string): Tenant | undefined => {
  const key = tenantOf(namespace);
  return key && tenants.get(key.namespace, key.name);
};

const parentOf = (caches: TenantCaches, { metadata: { namespace, name } }: Tenant): Parent => {
  if (isRoot(namespace!, name!)) return { state: 'none' };
  const object = caches.namespaces.get('', namespace!);
  const tenant = tenantOfNamespace(caches, namespace!);
  if (!object || !belongs(object, tenant)) return { state: 'missing' };
  return object.metadata.deletionTimestamp || tenant?.metadata.deletionTimestamp ? { state: 'ending' } : { state: 'ready', namespace: object };
};

/** Tenants may exist before Tenant root does: its namespace comes with the manifests. */
const belongs = (namespace: KubeObject, tenant: Tenant | undefined): boolean =>
  tenant ? isOurs(namespace, tenant) : namespace.metadata.name === rootNamespace && isManaged(namespace);

const handedDownTo = ({ namespaces, parts }: TenantCaches, { clusterValues }: TenantSettings, tenant: Tenant): Pick<Surroundings, 'handedDown' | 'platform'> => {
  const { namespace, name } = tenant.metadata as { namespace: string; name: string };
  const above = namespaces.get('', namespace);
  const secret = parts.values.get(namespace, valuesName);
  const configured = { handedDown: { values: clusterValues }, platform: { values: clusterValues } };
  if (!above || !secret || (isRoot(namespace, name) && isPartOurs(secret, tenant, above))) return configured;
  const platform = handedDownBy(secret, above);
  return { handedDown: isRoot(namespace, name) ? undefined : platform, platform };
};

/** A tenant and those above it, root last. */
export const lineOf = (tenant: Tenant, tenantOfPlace: (namespace: string) => Tenant | undefined): Tenant[] => {
  const line: Tenant[] = [];
  for (let current: Tenant | undefined = tenant; current; ) {
    line.push(current);
    const { namespace, name } = current.metadata as { namespace: string; name: string };
    current = isRoot(namespace, name) ? undefined : tenantOfPlace(namespace);
  }
  return line;
};

/** From the specs of all tenants above, never from a status or from a label that somebody may have changed. */
const inheritedBy = (caches: TenantCaches, tenant: Tenant): Inherited => inheritAlong(lineOf(tenant, (namespace) => tenantOfNamespace(caches, namespace)).map(nodeOf).toReversed());

/** A Tenant as a node of the tree. */
export const nodeOf = (tenant: Tenant): Node => {
  const { namespace, name } = tenant.metadata as { namespace: string; name: string };
  return { name, namespace: namespaceOf(namespace, name), spec: tenant.spec ?? {}, ...(isCordoned(tenant) && { cordoned: `${namespace}/${name}` }) };
};

/** Whether those below go with a tenant that is ending. */
const cascades = (caches: TenantCaches, tenant: Tenant): boolean =>
  lineOf(tenant, (namespace) => tenantOfNamespace(caches, namespace)).some((each) => isCascading(each) && (each === tenant || each.metadata.deletionTimestamp !== undefined));
