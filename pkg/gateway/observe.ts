import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, isManaged, managedByLabel, fieldManager, type RestResource } from '../controller/apply.ts';
import type { Informer, InformerOptions } from '../controller/informer.ts';
import { attachManager, listedBy } from './attach.ts';
import { gatewayOf } from './claims.ts';
import type { IssuerTable } from './issuance/issuers.ts';
import { controllerName, namesOf, ownersOf } from './names.ts';
import { admits, isOurs, type Observed } from './plan.ts';
import { certificates, gateways, httpRoutes, issuers, type Certificate, type Gateway, type HttpRoute } from './types.ts';

/** What the gateways' part of the loop looks at. */
export interface GatewayCaches {
  tenantGateways: Informer<TenantGateway>;
  /** All namespaces, metadata only. */
  namespaces: Informer;
  /** All of the cluster. */
  routes: Informer<HttpRoute>;
  /** Only what carries our label. */
  gateways: Informer<Gateway>;
  issuers: Informer;
  certificates: Informer<Certificate>;
}

/** Selects what the loop made. */
export const managedSelector = `${managedByLabel}=${fieldManager}`;

export const tenantGatewayInformer: InformerOptions<TenantGateway> = {
  indexes: { namespace: ({ metadata }) => [metadata.namespace!], attached: listedBy },
};

export const namespaceInformer: InformerOptions<KubeObject> = {
  indexes: { attach: ({ metadata }) => ownersOf(metadata.labels) },
  keep: (namespace) => {
    const managedFields = namespace.metadata.managedFields?.filter(({ manager }) => manager === fieldManager || manager === attachManager);
    return { ...namespace, metadata: { ...namespace.metadata, managedFields } };
  },
};

/** Only of what we made is it of interest who wrote which field. */
const withoutForeignFields = <T extends KubeObject>(object: T): T => (isManaged(object) ? object : { ...object, metadata: { ...object.metadata, managedFields: undefined } });

export const routeInformer: InformerOptions<HttpRoute> = {
  indexes: { gateway: (route) => gatewaysOf(route) },
  keep: (route) => withoutForeignFields(route),
};

export const certificateInformer: InformerOptions<Certificate> = {
  indexes: { owner: (certificate) => [controllerOf(certificate)?.uid ?? ''].filter(Boolean) },
};

/** `namespace/name` of the Gateways that a route names, in its spec or in what we once wrote into its status. */
export const gatewaysOf = ({ metadata, spec, status }: HttpRoute): string[] => {
  const stated = status?.parents?.filter((entry) => entry.controllerName === controllerName).map(({ parentRef }) => parentRef) ?? [];
  const keys = [...(spec?.parentRefs ?? []), ...stated].map((parentRef) => gatewayOf(parentRef, metadata.namespace!));
  return [...new Set(keys.filter((key) => key !== undefined))];
};

export const missingResources = (caches: GatewayCaches): Set<RestResource> => {
  const resources: [RestResource, { missing: boolean }][] = [
    [gateways, caches.gateways],
    [httpRoutes, caches.routes],
    [issuers, caches.issuers],
    [certificates, caches.certificates],
  ];
  return new Set(resources.filter(([, { missing }]) => missing).map(([resource]) => resource));
};

export const observe = (caches: GatewayCaches, gateway: TenantGateway, issuerTable: IssuerTable): Observed => {
  const { namespace = '', name = '' } = gateway.metadata;
  const names = namesOf(name);
  return {
    gateway,
    attached: caches.namespaces.byIndex('attach', namespace).filter((object) => admits(object, namespace)),
    routes: caches.routes.byIndex('gateway', `${namespace}/${name}`).filter((route) => !isOurs(route, gateway)),
    live: {
      gateway: caches.gateways.get(namespace, names.gateway),
      issuer: caches.issuers.get(namespace, names.issuer),
      redirect: caches.routes.get(namespace, names.redirect),
      certificates: caches.certificates.byIndex('owner', gateway.metadata.uid!),
    },
    missing: missingResources(caches),
    issuers: issuerTable,
  };
};
