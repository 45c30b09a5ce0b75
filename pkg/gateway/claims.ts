import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Attached } from './attached.ts';
import { compare } from './compare.ts';
import { claimFault, sectionsOf, type Ground } from './ground.ts';
import { isWildcard, normalHost } from './hostnames.ts';
import { certManagerNamespace, httpListener } from './names.ts';
import { placeOf, type Place } from './places.ts';
import { gatewayGroup, type ParentReference, type Route } from './types.ts';

/** Why something of a route is not served. Reasons are those of Gateway API where it has one. */
export interface Fault {
  reason: 'NotAllowedByListeners' | 'NoMatchingParent' | 'HostnameRequired' | 'HostnameNotAllowed' | 'HostnameConflict' | 'ListenerLimitReached';
  message: string;
  /** The host that is not served; absent where none is. */
  host?: string;
}

/** A host that routes want served. */
export interface Claim {
  host: string;
  /** The one whose routes are served. */
  namespace: string;
  /** Its routes that want the host, and where each may be reached. */
  routes: { route: Route; parentRef: ParentReference; place: Place }[];
  /** The namespaces whose routes want it too. */
  rivals: ReadonlySet<string>;
}

/** What became of one parentRef that names the gateway, or one of its ListenerSets. */
export interface Attachment {
  route: Route;
  parentRef: ParentReference;
  place: Place;
  /** Hosts that the route may have, as far as its namespace is concerned. */
  hosts: string[];
  faults: Fault[];
}

/**
 * Whether a parentRef names port 80 as well: it does where it names no listener, and the data plane takes it where the namespace
 * is the gateway's own. Then what the route matches more closely than the redirect does is answered in plain text.
 */
export const undercuts = ({ route, place, parentRef: { sectionName, port } }: Pick<Attachment, 'route' | 'place' | 'parentRef'>, owner: string): boolean =>
  route.kind === 'HTTPRoute' && place === 0 && (sectionName ?? httpListener) === httpListener && (port ?? 80) === 80 && [owner, certManagerNamespace].includes(route.metadata.namespace!);

export interface Claims {
  byHost: Map<string, Claim>;
  attachments: Attachment[];
  /** Namespaces with a route without hosts, which would be served on whatever a listener covers. */
  hostless: Set<string>;
  /** These, and namespaces with a wildcard that is not theirs. */
  roaming: Set<string>;
}

/** `namespace/name` of the Gateway that a parentRef means, itself or by a ListenerSet of it; undefined where it means something else. */
export const gatewayOf = ({ group = gatewayGroup, kind = 'Gateway', namespace, name }: ParentReference, routeNamespace: string): string | undefined => {
  if (group !== gatewayGroup && group !== '') return undefined;
  const gateway = kind === 'Gateway' ? name : kind === 'ListenerSet' ? placeOf(name)?.gateway : undefined;
  return gateway === undefined ? undefined : `${namespace ?? routeNamespace}/${gateway}`;
};

/**
 * Who may serve what on a gateway. Of several namespaces that want a host `cozy-*` wins, then the first by name: nothing that
 * comes or goes elsewhere moves a host.
 */
export const resolveClaims = (gateway: TenantGateway, routes: readonly Route[], attached: ReadonlyMap<string, Attached>, ground: Ground): Claims => {
  const key = `${gateway.metadata.namespace}/${gateway.metadata.name}`;
  const byHost = new Map<string, Claim & { rivals: Set<string> }>();
  const attachments: Attachment[] = [];
  const hostless = new Set<string>();
  for (const route of routes.toSorted(byPrecedence)) {
    const namespace = route.metadata.namespace!;
    for (const parentRef of route.spec?.parentRefs ?? []) {
      if (gatewayOf(parentRef, namespace) !== key || isSolver(route)) continue;
      const place = parentRef.kind === 'ListenerSet' ? placeOf(parentRef.name)!.place : 0;
      const barred = bar(route, parentRef, attached.get(namespace), gateway);
      if (barred) {
        attachments.push({ route, parentRef, place, hosts: [], faults: [barred] });
        if (barred.reason === 'HostnameRequired') hostless.add(namespace);
        continue;
      }
      const wanted = [...new Set((route.spec?.hostnames ?? []).map(normalHost))];
      const faults = new Map(wanted.map((host) => [host, faultOf(host, route, parentRef, attached.get(namespace)!, ground)]));
      const hosts = wanted.filter((host) => faults.get(host) === undefined);
      for (const host of hosts) claim(byHost, host, { route, parentRef, place });
      attachments.push({ route, parentRef, place, hosts, faults: [...faults.values()].filter((fault) => fault !== undefined) });
    }
  }
  const roaming = new Set(hostless);
  // A wildcard that is not had, or is another's, would be served all the same wherever its namespace shares a listener.
  for (const { host, rivals } of byHost.values()) if (isWildcard(host)) for (const rival of rivals) roaming.add(rival);
  for (const { route, faults } of attachments) if (faults.some(({ host }) => host !== undefined && isWildcard(host))) roaming.add(route.metadata.namespace!);
  return { byHost, attachments, hostless, roaming };
};

/** What keeps one host of a route from it. */
const faultOf = (host: string, { kind }: Route, { sectionName }: ParentReference, attached: Attached, ground: Ground): Fault | undefined => {
  const message = claimFault(host, kind!, attached, ground);
  if (message !== undefined) return { reason: 'HostnameNotAllowed', message, host };
  if (sectionName === undefined) return undefined;
  const sections = sectionsOf(host, ground);
  if (sections.includes(sectionName)) return undefined;
  return { reason: 'NoMatchingParent', host, message: `${host} is not served by listener ${sectionName}; leave sectionName out, or name ${sections.join(' or ')}` };
};

/** Claims come in order of precedence. */
const claim = (byHost: Map<string, Claim & { rivals: Set<string> }>, host: string, made: Claim['routes'][number]): void => {
  const namespace = made.route.metadata.namespace!;
  const first = byHost.get(host);
  if (!first) byHost.set(host, { host, namespace, routes: [made], rivals: new Set() });
  else if (first.namespace === namespace) first.routes.push(made);
  else first.rivals.add(namespace);
};

/** What keeps all of a route from a gateway, whatever its hosts are. */
const bar = (route: Route, { sectionName, port }: ParentReference, attached: Attached | undefined, { metadata: { namespace } }: TenantGateway): Fault | undefined => {
  const no = (reason: Fault['reason'], message: string): Fault => ({ reason, message });
  if (sectionName === httpListener || port === 80)
    return no('NotAllowedByListeners', 'port 80 is for the redirect to https and for challenges of cert-manager; leave sectionName and port out, or name a listener of port 443');
  if (port !== undefined && port !== 443) return no('NoMatchingParent', `there is no port ${port}; it is 443`);
  if (!attached) return no('NotAllowedByListeners', `namespace ${route.metadata.namespace} is not attached to gateways of ${namespace}: it is neither that of a tenant below which uses them, nor in spec.attachedNamespaces`);
  if (route.kind === 'GRPCRoute') return no('NotAllowedByListeners', 'listeners take HTTPRoutes and TLSRoutes; an HTTPRoute carries gRPC too');
  if ((route.spec?.hostnames ?? []).length === 0) return no('HostnameRequired', 'a route without hostnames is not served: name the hosts');
  return undefined;
};

/** cert-manager's challenge routes borrow a host for a moment, for one path: they claim nothing. */
const isSolver = ({ kind, metadata, spec }: Route): boolean =>
  kind === 'HTTPRoute' &&
  metadata.labels?.['acme.cert-manager.io/http01-solver'] !== undefined &&
  (spec?.rules ?? []).every(({ matches = [] }) => matches.length > 0 && matches.every(({ path }) => path?.value?.startsWith('/.well-known/acme-challenge/')));

const byPrecedence = (a: Route, b: Route): number =>
  Number(b.metadata.namespace!.startsWith('cozy-')) - Number(a.metadata.namespace!.startsWith('cozy-')) ||
  compare(a.metadata.namespace!, b.metadata.namespace!) ||
  compare(a.metadata.name!, b.metadata.name!) ||
  compare(a.kind!, b.kind!);
