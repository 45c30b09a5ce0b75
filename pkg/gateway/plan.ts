import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, fieldManager, managedBy, type RestResource } from '../controller/apply.ts';
import { ownedFields } from '../controller/managed-fields.ts';
import { resolveClaims, type Attachment, type Claims } from './claims.ts';
import { isHost, normalHost } from './hostnames.ts';
import type { IssuerTable } from './issuance/issuers.ts';
import { issuerSpec } from './issuer.ts';
import { listenersOf } from './listeners.ts';
import { attachLabel, compatibleManagedBy, httpListener, namesOf } from './names.ts';
import { certificates, gatewayGroup, gateways, httpRoutes, issuers, type Certificate, type Gateway, type HttpRoute, type Listener } from './types.ts';

/** What a TenantGateway makes. */
export type Made = 'gateway' | 'issuer' | 'certificate' | 'redirect';

/** All that a plan is made from. Objects are as the caches hold them. */
export interface Observed {
  gateway: TenantGateway;
  /** Namespaces that carry the gateway's label. */
  attached: readonly KubeObject[];
  /** Routes with a parentRef to it, whoever may attach. */
  routes: readonly HttpRoute[];
  live: {
    gateway: Gateway | undefined;
    issuer: KubeObject | undefined;
    redirect: HttpRoute | undefined;
    /** All that this gateway made. */
    certificates: readonly Certificate[];
  };
  /** Resources that the kube-apiserver does not serve. */
  missing: ReadonlySet<RestResource>;
  issuers: IssuerTable;
}

export type Action =
  | { do: 'apply'; what: Made; desired: KubeObject; live: KubeObject | undefined }
  | { do: 'delete'; what: Made; object: KubeObject }
  /** Somebody added listeners: an apply neither removes them nor passes where they clash with ours. */
  | { do: 'replace'; what: 'gateway'; object: KubeObject; listeners: Listener[] };

export interface Plan {
  actions: Action[];
  attachments: Attachment[];
  /** Hosts without a place among the listeners. */
  leftOut: string[];
  /** Names of the Certificates that should be there. */
  certificates: string[];
  /** Namespaces in spec.attachedNamespaces that lack the label which admits their routes. */
  unlabelled: string[];
  /** What is wrong with the spec: nothing is changed until it is put right. */
  fault: string | undefined;
}

const idle = { actions: [], attachments: [], leftOut: [], certificates: [], unlabelled: [] };
const noClaims: Claims = { winners: new Map(), contested: new Set(), attachments: [] };

/** What to do for a gateway now. Pure. */
export const plan = (observed: Observed): Plan => {
  const { gateway, attached, routes, live, missing } = observed;
  const { namespace = '', name = '', deletionTimestamp } = gateway.metadata;
  if (deletionTimestamp) return { ...idle, fault: undefined }; // the garbage collector takes what it owns
  const fault = specFault(gateway, observed.issuers);
  if (fault) return { ...idle, fault };

  const byName = new Map(attached.map((object) => [object.metadata.name!, object]));
  const wildcard = gateway.spec.certMode === 'dns01' || gateway.spec.certMode === 'existingSecret';
  const claims = wildcard ? noClaims : resolveClaims(gateway, routes, (wanted) => byName.get(wanted));
  const { listeners, certificates: wanted, leftOut } = listenersOf(gateway, claims, attached);
  const names = namesOf(name);
  const make = (resource: RestResource, objectName: string, labels: Record<string, string>, spec: object): KubeObject => ({
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name: objectName, namespace, labels: { ...managedBy, ...compatibleManagedBy, ...labels }, ownerReferences: [ownedBy(gateway)] },
    spec,
  });
  const perGateway = { 'cozystack.io/tenantgateway': name };

  const actions: Action[] = [];
  const apply = (what: Made, resource: RestResource, object: KubeObject, found: KubeObject | undefined): void => {
    if (!missing.has(resource)) actions.push({ do: 'apply', what, desired: object, live: found });
  };
  if (live.gateway && isOurs(live.gateway, gateway) && hasForeignListeners(live.gateway, listeners))
    actions.push({ do: 'replace', what: 'gateway', object: live.gateway, listeners });
  const gatewaySpec = { gatewayClassName: gateway.spec.gatewayClassName || 'cilium', listeners };
  apply('gateway', gateways, make(gateways, names.gateway, { 'cozystack.io/gateway': namespace }, gatewaySpec), live.gateway);
  const issuer = gateway.spec.certMode === 'existingSecret' ? undefined : issuerSpec(namespace, name, gateway.spec, observed.issuers);
  if (issuer && 'spec' in issuer) apply('issuer', issuers, make(issuers, names.issuer, {}, issuer.spec), live.issuer);
  for (const [certificate, hosts] of [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const labels = wildcard ? {} : { ...perGateway, 'cozystack.io/per-listener-cert': 'true' };
    const spec = { secretName: certificate, dnsNames: [...new Set(hosts)], issuerRef: { kind: 'Issuer', name: names.issuer } };
    apply('certificate', certificates, make(certificates, certificate, labels, spec), live.certificates.find(({ metadata }) => metadata.name === certificate));
  }
  apply('redirect', httpRoutes, make(httpRoutes, names.redirect, perGateway, redirectSpec(name)), live.redirect);

  if (!issuer && live.issuer && isOurs(live.issuer, gateway)) actions.push({ do: 'delete', what: 'issuer', object: live.issuer });
  for (const object of live.certificates)
    if (!wanted.has(object.metadata.name!) && !object.metadata.deletionTimestamp && isOurs(object, gateway)) actions.push({ do: 'delete', what: 'certificate', object });

  const unlabelled = [...new Set(gateway.spec.attachedNamespaces ?? [])].filter((wantedNamespace) => wantedNamespace && !byName.has(wantedNamespace));
  return { actions, attachments: claims.attachments, leftOut, certificates: [...wanted.keys()], unlabelled, fault: undefined };
};

/** Made for this very TenantGateway. */
export const isOurs = (object: KubeObject, gateway: TenantGateway): boolean => controllerOf(object)?.uid === gateway.metadata.uid;

/** Listeners that we own and no longer want go with the next apply; these are others'. */
const hasForeignListeners = (live: Gateway, desired: readonly Listener[]): boolean => {
  const markOf = ({ name }: Listener): string => `k:${JSON.stringify({ name })}`;
  const wanted = new Set(desired.map(markOf));
  const ours = (ownedFields(live, gateways.apiVersion, fieldManager)?.['f:spec'] as Record<string, object> | undefined)?.['f:listeners'] ?? {};
  return (live.spec?.listeners ?? []).some((listener) => !wanted.has(markOf(listener)) && !(markOf(listener) in ours));
};

/** Whether a namespace admits its routes to gateways in `owner`. */
export const admits = (namespace: KubeObject, owner: string): boolean => namespace.metadata.labels?.[attachLabel(owner)] !== undefined;

const specFault = (gateway: TenantGateway, table: IssuerTable): string | undefined => {
  const { apex, certMode, wildcardSecretRef } = gateway.spec;
  if (!isHost(normalHost(apex))) return `spec.apex: "${apex}" is no DNS name`;
  if (certMode === 'existingSecret')
    return wildcardSecretRef?.name ? undefined : 'spec.wildcardSecretRef.name: certMode existingSecret needs the name of a Secret of type kubernetes.io/tls';
  const issuer = issuerSpec(gateway.metadata.namespace ?? '', gateway.metadata.name ?? '', gateway.spec, table);
  return 'fault' in issuer ? issuer.fault : undefined;
};

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: TenantGateway) => ({ apiVersion, kind, name: name!, uid: uid!, controller: true, blockOwnerDeletion: true });

const redirectSpec = (name: string) => ({
  parentRefs: [{ group: gatewayGroup, kind: 'Gateway', name, sectionName: httpListener }],
  rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }] }],
});
