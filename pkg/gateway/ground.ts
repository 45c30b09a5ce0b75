import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Attached } from './attached.ts';
import { compare } from './compare.ts';
import { above, isHost, isUnder, isWildcard, normalHost } from './hostnames.ts';
import { apexListener, hostListener, passthroughListener, zoneListener } from './names.ts';

/** Namespaces that share a wildcard of a gateway: `*.apex`. */
export interface Zone {
  apex: string;
  members: ReadonlySet<string>;
  /** When the first of them was made. */
  since: string;
}

/** What a gateway may serve before any route is looked at. */
export interface Ground {
  apex: string;
  /** Zones by apex, the gateway's own first, then the oldest; none where each host has a certificate of its own. */
  zones: ReadonlyMap<string, Zone>;
  /** Services whose TLS is passed through, by host. */
  passthrough: ReadonlyMap<string, string>;
}

export const isWildcardMode = ({ certMode }: TenantGateway['spec']): boolean => certMode === 'dns01' || certMode === 'existingSecret';

export const groundOf = ({ spec }: TenantGateway, attached: ReadonlyMap<string, Attached>): Ground => {
  const apex = normalHost(spec.apex);
  const services = [...new Set(spec.tlsPassthroughServices ?? [])].filter((service) => isPassthrough(service, apex));
  return { apex, zones: isWildcardMode(spec) ? zonesOf(apex, [...attached.values()]) : new Map(), passthrough: new Map(services.map((service) => [`${service}.${apex}`, service])) };
};

const isPassthrough = (service: string, apex: string): boolean => isHost(`${service}.${apex}`);

/** What `spec.tlsPassthroughServices` has that makes no host. */
export const namelessServices = ({ apex, tlsPassthroughServices = [] }: TenantGateway['spec']): string[] =>
  [...new Set(tlsPassthroughServices)].filter((service) => !isPassthrough(service, normalHost(apex)));

/** A tenant below that has the gateway's own apex publishes among the gateway's own. */
const zonesOf = (apex: string, attached: readonly Attached[]): Map<string, Zone> => {
  const own = attached.filter((namespace) => namespace.isShared || namespace.apex === apex);
  const below = attached.filter((namespace) => !own.includes(namespace) && namespace.apex !== '');
  const zones = new Map<string, Zone>([[apex, { apex, members: new Set(own.map(({ name }) => name)), since: '' }]]);
  for (const { name, apex: host, since } of below.toSorted((a, b) => compare(a.since, b.since) || compare(a.name, b.name))) {
    const { members = [], since: first = since } = zones.get(host) ?? {};
    zones.set(host, { apex: host, members: new Set([...members, name]), since: first });
  }
  return zones;
};

/** Why a route of a kind may not have a host, or undefined; `host` is in normal form. */
export const claimFault = (host: string, kind: string, { name, apex, fault }: Attached, { zones, passthrough }: Ground): string | undefined => {
  if (isWildcard(host)) return wildcardFault(host, kind, name, zones);
  if (!isHost(host)) return `${host} is no DNS name`;
  if (fault) return `${host} cannot be had: ${fault}`;
  if (!isUnder(host, apex)) return `${host} is neither ${apex} nor below it`;
  if (kind === 'TLSRoute') return passthrough.has(host) ? undefined : `TLS of ${host} is terminated here; use an HTTPRoute, or have its first label in spec.tlsPassthroughServices of the gateway`;
  if (passthrough.has(host)) return `TLS of ${host} is passed through; use a TLSRoute`;
  if (zones.size > 0 && !zones.has(host) && !zones.has(above(host))) return `no certificate covers ${host}: a wildcard covers one label, and there are those of ${[...zones.keys()].join(', ')}`;
  return undefined;
};

const wildcardFault = (host: string, kind: string, namespace: string, zones: Ground['zones']): string | undefined => {
  if (kind === 'TLSRoute') return `${host} is a wildcard; TLS is passed through for single hosts`;
  if (zones.size === 0) return `${host} is a wildcard, which cannot have a certificate by HTTP-01; name each host, or have the gateway use certMode dns01`;
  return zones.get(above(host))?.members.has(namespace) ? undefined : `${host} is a wildcard; one can be had of a namespace's own apex only`;
};

/** The zone that covers a host, by its apex: its own, or the one that it lies one label below. */
export const zoneOf = (host: string, { zones }: Pick<Ground, 'zones'>): Zone | undefined => zones.get(host) ?? zones.get(above(host));

/** Names of the listeners that may come to serve a host. */
export const sectionsOf = (host: string, ground: Ground): string[] => {
  const service = ground.passthrough.get(host);
  if (service !== undefined) return [passthroughListener(service)];
  const zone = ground.zones.get(above(host));
  const shared = zone ? [zoneListener(zone.apex, ground.apex)] : [];
  if (isWildcard(host)) return shared;
  return [...shared, ground.zones.has(host) && host === ground.apex ? apexListener : hostListener(host)];
};
