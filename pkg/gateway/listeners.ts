import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Claim, Claims } from './claims.ts';
import { compare } from './compare.ts';
import { zoneOf, type Ground, type Zone } from './ground.ts';
import { above, isWildcard } from './hostnames.ts';
import { apexListener, attachLabel, certManagerNamespace, hostCertificate, hostListener, httpListener, namesOf, passthroughListener, zoneListener } from './names.ts';
import { assignPlaces, listenerLimit, type Place } from './places.ts';
import { gatewayGroup, type Listener } from './types.ts';

/** What the data plane can do. */
export interface Abilities {
  listenerSets: boolean;
  /** Cilium merges the listeners of a port whose kinds differ, so there they are the same; others find fault with a kind that a protocol does not carry. */
  mergesKinds: boolean;
}

/** A listener with its place, and the namespaces whose routes it takes. */
export interface Placed {
  listener: Listener;
  place: Place;
  admits: ReadonlySet<string>;
}

export interface Listeners {
  placed: Placed[];
  /** Certificate name to the hosts that it must cover. */
  certificates: Map<string, string[]>;
  /** Hosts that found no place. */
  leftOut: string[];
}

/** A listener of port 443 that is wanted. */
interface Wanted {
  name: string;
  hostname: string;
  admits: ReadonlySet<string>;
  /** Undefined where TLS is passed through. */
  secret?: string;
  since: string;
  reaches: ReadonlySet<Place>;
}

/**
 * The listeners of a gateway: http, then those that terminate TLS, then those that pass it through. Each takes the routes of
 * exactly the namespaces that may be served on it. `held` are the places that listeners have now, by name.
 */
export const listenersOf = (gateway: TenantGateway, ground: Ground, claims: Claims, held: ReadonlyMap<string, Place>, abilities: Abilities): Listeners => {
  const owner = gateway.metadata.namespace!;
  const passed = [...ground.passthrough].map(([host, service]): Wanted => ({ ...standing(passthroughListener(service), host), admits: winnerOf(claims, host) }));
  const apex = ground.zones.size > 0 ? [{ ...standing(apexListener, ground.apex), admits: winnerOf(claims, ground.apex), secret: secretFor(gateway, ground, ground.apex) }] : [];
  const shared = [...ground.zones.values()].map((zone) => sharedListener(gateway, ground, claims, zone));
  const fixed = [...shared.slice(0, 1), ...apex, ...passed].slice(0, listenerLimit - 1);
  const { others, namesakes } = distinct([...shared.slice(1), ...singles(gateway, ground, claims, shared)]);
  const places = assignPlaces(others, held, { gateway: listenerLimit - 1 - fixed.length, sets: abilities.listenerSets });
  const outside = [...others.filter(({ name }) => !places.has(name)), ...namesakes];
  // A contested host without a listener of its own must not fall to whoever lost it.
  const losers = new Set(outside.flatMap(({ hostname }) => [...(claims.byHost.get(hostname)?.rivals ?? [])]));
  const kept = [...fixed, ...others.filter(({ name }) => places.has(name))].map((wanted) => (isWildcard(wanted.hostname) ? { ...wanted, admits: wanted.admits.difference(losers) } : wanted));
  const placed = inOrder(kept.map((wanted) => ({ listener: render(wanted, owner, abilities), place: places.get(wanted.name) ?? 0, admits: wanted.admits })));
  return {
    placed: [{ listener: httpOf(owner), place: 0, admits: new Set([owner, certManagerNamespace]) }, ...placed],
    certificates: gateway.spec.certMode === 'existingSecret' ? new Map() : certificatesFor(ground, kept),
    leftOut: [...outside, ...passed.filter((wanted) => !fixed.includes(wanted))].map(({ hostname }) => hostname).toSorted(),
  };
};

/** Whoever wants to may find two hosts whose listeners would have one name: the older has it. */
const distinct = (wanted: readonly Wanted[]): { others: Wanted[]; namesakes: Wanted[] } => {
  const byName = new Map(wanted.toSorted((a, b) => compare(b.since, a.since) || compare(b.hostname, a.hostname)).map((one) => [one.name, one]));
  return { others: [...byName.values()], namesakes: wanted.filter((one) => byName.get(one.name) !== one) };
};

/** One that is there before any route is, and always in the Gateway. */
const standing = (name: string, hostname: string) => ({ name, hostname, since: '', reaches: new Set([0]) });

/** Nobody, where nobody claims the host: what attached all the same would be served by accident. */
const winnerOf = ({ byHost }: Claims, host: string): ReadonlySet<string> => {
  const claim = byHost.get(host);
  return new Set(claim ? [claim.namespace] : []);
};

const sharedListener = (gateway: TenantGateway, ground: Ground, { roaming }: Claims, { apex, members, since }: Zone): Wanted => ({
  ...standing(zoneListener(apex, ground.apex), `*.${apex}`),
  admits: members.difference(roaming),
  since,
  secret: secretFor(gateway, ground, apex),
});

/** Hosts that need a listener of their own: all where there is no zone, else those that a zone's would not serve, or to others too. */
const singles = (gateway: TenantGateway, ground: Ground, claims: Claims, shared: readonly Wanted[]): Wanted[] => {
  const byHostname = new Map(shared.map((wanted) => [wanted.hostname, wanted]));
  return [...claims.byHost.values()].flatMap((claim): Wanted[] => {
    const { host, namespace, rivals, routes } = claim;
    if (isWildcard(host) || ground.passthrough.has(host) || (ground.zones.size > 0 && host === ground.apex)) return [];
    const zone = byHostname.get(`*.${above(host)}`);
    const reached = routes.some(({ place, parentRef: { sectionName } }) => place === 0 && (sectionName === undefined || sectionName === zone?.name));
    if (zone?.admits.has(namespace) && reached && rivals.isDisjointFrom(zone.admits)) return [];
    const since = sinceOf(claim);
    return [{ name: hostListener(host), hostname: host, admits: new Set([namespace]), secret: secretFor(gateway, ground, host), since, reaches: new Set(routes.map(({ place }) => place)) }];
  });
};

const sinceOf = ({ routes }: Claim): string => routes.map(({ route }) => route.metadata.creationTimestamp ?? '').reduce((a, b) => (a < b ? a : b));

/** Names in a certificate, by the authorities' rule. */
const namesPerCertificate = 100;

/** The Secret that holds the certificate for a host or a wildcard. */
const secretFor = ({ metadata: { name = '' }, spec }: TenantGateway, ground: Ground, hostname: string): string => {
  if (spec.certMode === 'existingSecret') return spec.wildcardSecretRef?.name ?? '';
  const zone = zoneOf(hostname, ground);
  if (!zone) return hostCertificate(name, hostname);
  return sharesCertificate(zone, ground) ? namesOf(name).wildcardCertificate : hostCertificate(name, zone.apex);
};

/** Zones share a certificate as long as it has room: the oldest do, so that one more moves none. */
const sharesCertificate = (zone: Zone, { zones }: Ground): boolean => [...zones.values()].slice(0, namesPerCertificate / 2).includes(zone);

/** What each certificate has to cover. */
const certificatesFor = (ground: Ground, kept: readonly Wanted[]): Map<string, string[]> => {
  const certificates = new Map<string, Set<string>>();
  for (const { secret, hostname } of kept) {
    if (secret === undefined) continue;
    const zone = zoneOf(hostname, ground);
    const hosts = certificates.get(secret) ?? new Set();
    certificates.set(secret, hosts);
    for (const host of zone ? [zone.apex, `*.${zone.apex}`] : [hostname]) hosts.add(host);
  }
  return new Map([...certificates].map(([secret, hosts]) => [secret, [...hosts]]));
};

const render = ({ name, hostname, admits, secret }: Wanted, owner: string, { mergesKinds }: Abilities): Listener => {
  const protocol = secret === undefined ? 'TLS' : 'HTTPS';
  const kinds = mergesKinds ? ['HTTPRoute', 'TLSRoute'] : [secret === undefined ? 'TLSRoute' : 'HTTPRoute'];
  return {
    name,
    port: 443,
    protocol,
    hostname,
    tls: secret === undefined ? { mode: 'Passthrough' } : { mode: 'Terminate', certificateRefs: [{ name: secret }] },
    allowedRoutes: { namespaces: { from: 'Selector', selector: selectorOf(owner, admits) }, kinds: kinds.map((kind) => ({ group: gatewayGroup, kind })) },
  };
};

const nameLabel = 'kubernetes.io/metadata.name';

/** The Secret of a listener that terminates TLS. */
export const secretOf = ({ tls }: Listener): string | undefined => (tls?.mode === 'Terminate' ? tls.certificateRefs?.[0]?.name : undefined);

/** The namespaces that a listener of ours admits, whether it is as we render it or as the kube-apiserver has it. */
export const admittedBy = ({ allowedRoutes }: Listener): ReadonlySet<string> => {
  const { matchLabels = {}, matchExpressions = [] } = (allowedRoutes as AllowedRoutes | undefined)?.namespaces?.selector ?? {};
  const listed = matchExpressions.find(({ key, operator }) => key === nameLabel && operator === 'In')?.values;
  return new Set(matchLabels[nameLabel] === undefined ? listed : [matchLabels[nameLabel]]);
};

interface AllowedRoutes {
  namespaces?: { selector?: { matchLabels?: Record<string, string>; matchExpressions?: { key: string; operator: string; values?: string[] }[] } };
}

/** A listener that is there, as it is to be applied: without what the kube-apiserver has added. */
export const withAdmitted = ({ name, port, protocol, hostname, tls, allowedRoutes }: Listener, owner: string, admits: ReadonlySet<string>): Listener => ({
  name,
  port,
  protocol,
  ...(hostname && { hostname }),
  ...(tls && { tls: { mode: tls.mode, ...(tls.certificateRefs && { certificateRefs: tls.certificateRefs.map((reference) => ({ name: reference.name })) }) } }),
  allowedRoutes: { ...allowedRoutes, namespaces: { from: 'Selector', selector: selectorOf(owner, admits) } },
});

/** By the gateway's own key, and by name: of the two, only the kube-apiserver writes the latter. */
const selectorOf = (owner: string, admits: ReadonlySet<string>): object => {
  const key = { [attachLabel(owner)]: '' };
  const [only, ...more] = [...admits].toSorted();
  if (only === undefined) return { matchLabels: key, matchExpressions: [{ key: nameLabel, operator: 'DoesNotExist' }] }; // every namespace has it
  if (more.length === 0) return { matchLabels: { ...key, [nameLabel]: only } };
  return { matchLabels: key, matchExpressions: [{ key: nameLabel, operator: 'In', values: [only, ...more] }] };
};

/** Plain HTTP is for the redirect and for cert-manager's challenges alone. */
const httpOf = (owner: string): Listener => ({
  name: httpListener,
  port: 80,
  protocol: 'HTTP',
  allowedRoutes: {
    namespaces: { from: 'Selector', selector: { matchExpressions: [{ key: nameLabel, operator: 'In', values: [...new Set([owner, certManagerNamespace])] }] } },
  },
});

/** HTTP first, then what terminates TLS, then what passes it through. */
export const inOrder = (placed: readonly Placed[]): Placed[] => placed.toSorted(byProtocolAndHost);

const byProtocolAndHost = ({ listener: a }: Placed, { listener: b }: Placed): number => compare(a.protocol, b.protocol) || compare(a.hostname ?? '', b.hostname ?? '');
