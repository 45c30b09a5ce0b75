import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, isManaged, managedByLabel, fieldManager, type RestResource } from '../controller/apply.ts';
import type { Informer, InformerOptions } from '../controller/informer.ts';
import { abilitiesOf } from './abilities.ts';
import { attachManager, carriersOf } from './attach.ts';
import { gatewayOf } from './claims.ts';
import type { IssuerTable } from './issuance/issuers.ts';
import { controllerName, namesOf, ownersOf } from './names.ts';
import { classOf, isOurs, type Observed } from './plan.ts';
import { certificates, gateways, httpRoutes, issuers, type Certificate, type Gateway, type GatewayClass, type ListenerSet, type Route } from './types.ts';
import { isServable, type SeenSecret } from './secrets/verdict.ts';

/** What the gateways' part of the loop looks at. */
export interface GatewayCaches {
  tenantGateways: Informer<TenantGateway>;
  /** All namespaces, metadata only. */
  namespaces: Informer;
  /** All of the cluster. */
  httpRoutes: Informer<Route>;
  grpcRoutes: Informer<Route>;
  /** One for each version, newest first. */
  tlsRoutes: readonly Informer<Route>[];
  gatewayClasses: Informer<GatewayClass>;
  /** Only what carries our label. */
  gateways: Informer<Gateway>;
  listenerSets: Informer<ListenerSet>;
  issuers: Informer;
  certificates: Informer<Certificate>;
  /** Secrets of ACME accounts, by their one name, metadata only. */
  accounts: Informer;
}

/** Selects what the loop made. */
export const managedSelector = `${managedByLabel}=${fieldManager}`;

export const tenantGatewayInformer: InformerOptions<TenantGateway> = {
  indexes: { namespace: ({ metadata }) => [metadata.namespace!], attached: carriersOf, class: (gateway) => [classOf(gateway)] },
};

export const namespaceInformer: InformerOptions<KubeObject> = {
  indexes: { attach: ({ metadata }) => ownersOf(metadata.labels) },
  keep: (namespace) => {
    const managedFields = namespace.metadata.managedFields?.filter(({ manager }) => manager === fieldManager || manager === attachManager);
    return { ...namespace, metadata: { ...namespace.metadata, managedFields } };
  },
};

export const routeInformer: InformerOptions<Route> = {
  indexes: { gateway: (route) => gatewaysOf(route) },
  keep: (route) => (isManaged(route) ? route : outlineOf(route)),
};

/** Of others' routes it matters what they want and match, and what was told to them; where requests go, which is most of it, does not. */
const outlineOf = ({ apiVersion, kind, metadata, spec, status }: Route): Route => ({
  apiVersion,
  kind,
  metadata: { ...metadata, managedFields: undefined, annotations: undefined },
  ...(spec && { spec: { parentRefs: spec.parentRefs, hostnames: spec.hostnames, rules: spec.rules?.map(({ matches }) => ({ matches })) } }),
  status,
});

/** Found again by the uid of the TenantGateway that made them. */
export const madeInformer = <T extends KubeObject>(): InformerOptions<T> => ({
  indexes: { owner: (object) => [controllerOf(object)?.uid ?? ''].filter(Boolean) },
});

export const allInformers = ({ tlsRoutes, ...others }: GatewayCaches): Pick<Informer, 'settled' | 'start' | 'stop'>[] => [...Object.values(others), ...tlsRoutes];

/** `namespace/name` of the Gateways that a route names, in its spec or in what we once wrote into its status. */
export const gatewaysOf = ({ metadata, spec, status }: Route): string[] => {
  const stated = status?.parents?.filter((entry) => entry.controllerName === controllerName).map(({ parentRef }) => parentRef) ?? [];
  const keys = [...(spec?.parentRefs ?? []), ...stated].map((parentRef) => gatewayOf(parentRef, metadata.namespace!));
  return [...new Set(keys.filter((key) => key !== undefined))];
};

/** The routes of every kind that name a gateway, `namespace/name`. */
export const routesOf = ({ httpRoutes: http, grpcRoutes: grpc, tlsRoutes: tls }: GatewayCaches, key: string): Route[] =>
  [http, grpc, tls.find(({ missing }) => !missing)].flatMap((informer) => informer?.byIndex('gateway', key) ?? []);

export const missingResources = (caches: GatewayCaches): Set<RestResource> => {
  const resources: [RestResource, { missing: boolean }][] = [
    [gateways, caches.gateways],
    [httpRoutes, caches.httpRoutes],
    [issuers, caches.issuers],
    [certificates, caches.certificates],
  ];
  return new Set(resources.filter(([, { missing }]) => missing).map(([resource]) => resource));
};

export const observe = (caches: GatewayCaches, gateway: TenantGateway, issuerTable: IssuerTable, seen: readonly SeenSecret[]): Observed => {
  const { namespace = '', name = '' } = gateway.metadata;
  const names = namesOf(name);
  const routes = routesOf(caches, `${namespace}/${name}`);
  const ownNamespace = [caches.namespaces.get('', namespace)].filter((found) => found !== undefined);
  return {
    gateway,
    attached: [...new Set([...caches.namespaces.byIndex('attach', namespace), ...ownNamespace])],
    routes: routes.filter((route) => !isOurs(route, gateway)),
    live: {
      gateway: caches.gateways.get(namespace, names.gateway),
      issuer: caches.issuers.get(namespace, names.issuer),
      redirects: routes.filter((route) => isOurs(route, gateway)),
      certificates: caches.certificates.byIndex('owner', gateway.metadata.uid!),
      account: caches.accounts.get(namespace, names.accountSecret),
      sets: caches.listenerSets.byIndex('owner', gateway.metadata.uid!),
    },
    abilities: abilitiesOf(caches.gatewayClasses.get('', classOf(gateway)), !caches.listenerSets.missing),
    missing: missingResources(caches),
    issuers: issuerTable,
    given: new Map(seen.flatMap((secret) => (typeof secret.need.key === 'string' ? [] : [[secret.need.name, isServable(secret)] as const]))),
  };
};
