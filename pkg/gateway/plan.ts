import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf, fieldManager, managedBy, type RestResource } from '../controller/apply.ts';
import { ownedFields } from '../controller/managed-fields.ts';
import { withIssuerAsOwner } from './account.ts';
import { attachedTo } from './attached.ts';
import { resolveClaims, type Attachment } from './claims.ts';
import { groundOf, namelessServices } from './ground.ts';
import { handOver, type Standing } from './handover.ts';
import { isHost, normalHost } from './hostnames.ts';
import type { IssuerTable } from './issuance/issuers.ts';
import { isIssued } from './issued.ts';
import { issuerNameOf, issuerSpec } from './issuer.ts';
import { listenersOf, secretOf, type Abilities } from './listeners.ts';
import { compatibleManagedBy, issuerLabel, namesOf } from './names.ts';
import { placeOf, setName } from './places.ts';
import { redirectsOf } from './redirect.ts';
import { explain } from './served.ts';
import { certificates, gatewayGroup, gateways, httpRoutes, issuers, listenerSets, type Certificate, type Gateway, type Listener, type ListenerSet, type Route } from './types.ts';

/** What a TenantGateway makes. */
export type Made = 'gateway' | 'listenerSet' | 'issuer' | 'certificate' | 'redirect';

/** All that a plan is made from. Objects are as the caches hold them. */
export interface Observed {
  gateway: TenantGateway;
  /** The gateway's own namespace, and those that carry its label. */
  attached: readonly KubeObject[];
  /** Routes with a parentRef to it, whoever may attach. */
  routes: readonly Route[];
  live: {
    gateway: Gateway | undefined;
    issuer: KubeObject | undefined;
    redirects: readonly Route[];
    /** All that this gateway made. */
    certificates: readonly Certificate[];
    sets: readonly ListenerSet[];
    /** Secret of the ACME account, metadata only. */
    account: KubeObject | undefined;
  };
  abilities: Abilities;
  /** Resources that the kube-apiserver does not serve. */
  missing: ReadonlySet<RestResource>;
  issuers: IssuerTable;
  /** Whether a Secret that the gateway was given can be served, by its name, as far as it was looked at. */
  given: ReadonlyMap<string, boolean>;
}

export type Action =
  | { do: 'apply'; what: Made; desired: KubeObject; live: KubeObject | undefined }
  | { do: 'delete'; what: Made; object: KubeObject }
  /** cert-manager made it: it gets an owner. */
  | { do: 'own'; what: 'account'; desired: KubeObject }
  /** Somebody added listeners: an apply neither removes them nor passes where they clash with ours. */
  | { do: 'replace'; what: 'gateway' | 'listenerSet'; object: KubeObject; listeners: Listener[] };

export interface Plan {
  actions: Action[];
  attachments: Attachment[];
  /** Routes that answer on port 80 instead of the redirect. */
  plain: ReadonlySet<Route>;
  /** Hosts without a place among the listeners. */
  leftOut: string[];
  /** Names of the Certificates that should be there. */
  certificates: string[];
  /** Listeners that wait for their certificates, while what was there before serves their hosts. */
  waiting: string[];
  /** Namespaces in spec.attachedNamespaces that are not attached: they do not exist, are about to be, or may not be. */
  unattached: string[];
  /** What in spec.tlsPassthroughServices makes no host. */
  nameless: string[];
  /** What is wrong with the spec: nothing is changed until it is put right. */
  fault: string | undefined;
}

/** No plan at all. */
export const nothing = { actions: [], attachments: [], plain: new Set<Route>(), leftOut: [], certificates: [], waiting: [], unattached: [], nameless: [] };

/** What to do for a gateway now. Pure. */
export const plan = (observed: Observed): Plan => {
  const { gateway, routes, live, missing, abilities } = observed;
  const { namespace = '', name = '', deletionTimestamp } = gateway.metadata;
  if (deletionTimestamp) return { ...nothing, fault: undefined }; // the garbage collector takes what it owns
  const fault = specFault(gateway, observed.issuers);
  if (fault) return { ...nothing, fault };

  const attached = attachedTo(gateway, observed.attached);
  const ground = groundOf(gateway, attached);
  const claims = resolveClaims(gateway, routes, attached, ground);
  const standing = standingOf(observed);
  const { placed: wished, certificates: wanted, leftOut } = listenersOf(gateway, ground, claims, new Map(standing.map(({ listener, place }) => [listener.name, place])), abilities);
  const { placed, waiting } = handOver(wished, standing, { owner: namespace, claims, attached: new Set(attached.keys()), hasCertificate: (secret) => hasCertificate(observed, secret), isExpected: (secret) => isExpected(observed, secret) });
  const listenersAt = Map.groupBy(placed, ({ place }) => place);
  const listeners = listenersAt.get(0)!.map(({ listener }) => listener);
  const places = [...listenersAt.keys()].filter((place) => place > 0).toSorted((a, b) => a - b);
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
  /** Applies what holds listeners. */
  const hold = (what: 'gateway' | 'listenerSet', resource: RestResource, object: KubeObject, found: Gateway | ListenerSet | undefined, held: Listener[]): void => {
    if (found && isOurs(found, gateway) && hasForeignListeners(found, held)) actions.push({ do: 'replace', what, object: found, listeners: held });
    apply(what, resource, object, found);
  };
  const gatewaySpec = { gatewayClassName: classOf(gateway), ...(places.length > 0 && { allowedListeners: { namespaces: { from: 'Same' } } }), listeners };
  hold('gateway', gateways, make(gateways, names.gateway, { 'cozystack.io/gateway': namespace }, gatewaySpec), live.gateway, listeners);
  const sets = new Map(live.sets.map((set) => [set.metadata.name!, set]));
  for (const place of places) {
    const held = listenersAt.get(place)!.map(({ listener }) => listener);
    const spec = { parentRef: { group: gatewayGroup, kind: 'Gateway', name }, listeners: held };
    hold('listenerSet', listenerSets, make(listenerSets, setName(name, place), perGateway, spec), sets.get(setName(name, place)), held);
  }
  const issuer = gateway.spec.certMode === 'existingSecret' ? undefined : issuerSpec(namespace, name, gateway.spec, observed.issuers);
  if (issuer && 'spec' in issuer) apply('issuer', issuers, make(issuers, names.issuer, {}, issuer.spec), live.issuer);
  for (const [certificate, hosts] of [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const perListener = certificate === names.wildcardCertificate ? {} : { ...perGateway, 'cozystack.io/per-listener-cert': 'true' };
    const labels = { ...perListener, [issuerLabel]: issuerNameOf(gateway.spec) };
    const spec = { secretName: certificate, dnsNames: [...new Set(hosts)], issuerRef: { kind: 'Issuer', name: names.issuer } };
    apply('certificate', certificates, make(certificates, certificate, labels, spec), live.certificates.find(({ metadata }) => metadata.name === certificate));
  }
  const attachments = explain(name, claims, wished, leftOut);
  const redirects = redirectsOf(name, namespace, ground.apex, attachments);
  for (const [redirect, spec] of redirects.specs) apply('redirect', httpRoutes, make(httpRoutes, redirect, perGateway, spec), live.redirects.find(({ metadata }) => metadata.name === redirect));

  const owned = issuer && live.account && live.issuer && isOurs(live.issuer, gateway) && withIssuerAsOwner(live.account, live.issuer);
  if (owned) actions.push({ do: 'own', what: 'account', desired: owned });

  /** Takes away what is ours and no longer wanted. */
  const clear = <T extends KubeObject>(what: Made, found: readonly T[], isWanted: (object: T) => boolean): void => {
    for (const object of found) if (!object.metadata.deletionTimestamp && isOurs(object, gateway) && !isWanted(object)) actions.push({ do: 'delete', what, object });
  };
  clear('issuer', live.issuer ? [live.issuer] : [], () => issuer !== undefined);
  // Not before nothing that is there serves them: their Secrets go with them.
  const served = new Set([...standing, ...placed].map(({ listener }) => secretOf(listener)));
  const mayGo = ({ spec }: Certificate): boolean => spec?.secretName === undefined || (!served.has(spec.secretName) && [live.gateway, ...live.sets].every(isTakenUp));
  clear('certificate', live.certificates, (object) => wanted.has(object.metadata.name!) || !mayGo(object));
  clear('redirect', live.redirects, ({ metadata }) => redirects.specs.has(metadata.name!));
  clear('listenerSet', live.sets, ({ metadata }) => places.some((place) => setName(name, place) === metadata.name));

  const unattached = [...new Set(gateway.spec.attachedNamespaces ?? [])].filter((listed) => !attached.has(listed));
  return { actions, attachments, plain: redirects.plain, leftOut, certificates: [...wanted.keys()], waiting: waiting.map(({ listener }) => listener.name), unattached, nameless: namelessServices(gateway.spec), fault: undefined };
};

/** The GatewayClass of a gateway. */
export const classOf = ({ spec }: TenantGateway): string => spec.gatewayClassName || 'cilium';

/** Whether the data plane, as far as it tells, has seen the listeners as they are. */
const isTakenUp = (holder: Gateway | ListenerSet | undefined): boolean => {
  const generation = holder?.metadata.generation ?? 0;
  return (holder?.status?.conditions ?? []).every(({ observedGeneration = generation }) => observedGeneration >= generation);
};

/** Our listeners, where they stand now; those of the Gateway last, which count where sets have one of the same name. */
const standingOf = ({ gateway, live }: Observed): Standing[] => {
  const inSets = live.sets.filter((set) => isOurs(set, gateway)).flatMap(({ metadata, spec }) => (spec?.listeners ?? []).map((listener) => ({ listener, place: placeOf(metadata.name!)?.place ?? 1 })));
  const own = live.gateway && isOurs(live.gateway, gateway) ? (live.gateway.spec?.listeners ?? []) : [];
  return [...inSets, ...own.map((listener) => ({ listener, place: 0 }))];
};

/** Whether a Secret of the gateway's namespace holds a certificate; undefined where it is none that we issue or were given. */
const hasCertificate = ({ live, given }: Observed, secret: string): boolean | undefined => {
  const certificate = live.certificates.find(({ spec }) => spec?.secretName === secret);
  return certificate ? isIssued(certificate) : given.get(secret);
};

const isExpected = ({ live }: Observed, secret: string): boolean => live.certificates.some(({ spec, status }) => spec?.secretName === secret && !status?.failedIssuanceAttempts);

/** Made for this very TenantGateway. */
export const isOurs = (object: KubeObject, gateway: TenantGateway): boolean => controllerOf(object)?.uid === gateway.metadata.uid;

/** Listeners that we own and no longer want go with the next apply; these are others'. */
const hasForeignListeners = (live: Gateway | ListenerSet, desired: readonly Listener[]): boolean => {
  const markOf = ({ name }: Listener): string => `k:${JSON.stringify({ name })}`;
  const wanted = new Set(desired.map(markOf));
  const ours = (ownedFields(live, live.apiVersion, fieldManager)?.['f:spec'] as Record<string, object> | undefined)?.['f:listeners'] ?? {};
  return (live.spec?.listeners ?? []).some((listener) => !wanted.has(markOf(listener)) && !(markOf(listener) in ours));
};

const specFault = (gateway: TenantGateway, table: IssuerTable): string | undefined => {
  const { apex, certMode, wildcardSecretRef } = gateway.spec;
  if (!isHost(normalHost(apex))) return `spec.apex: "${apex}" is no DNS name`;
  if (certMode === 'existingSecret')
    return wildcardSecretRef?.name ? undefined : 'spec.wildcardSecretRef.name: certMode existingSecret needs the name of a Secret of type kubernetes.io/tls';
  const issuer = issuerSpec(gateway.metadata.namespace ?? '', gateway.metadata.name ?? '', gateway.spec, table);
  return 'fault' in issuer ? issuer.fault : undefined;
};

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: TenantGateway) => ({ apiVersion, kind, name: name!, uid: uid!, controller: true, blockOwnerDeletion: true });
