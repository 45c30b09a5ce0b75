import type { Attachment, Claims, Fault } from './claims.ts';
import { isUnder, above, isWildcard } from './hostnames.ts';
import type { Placed } from './listeners.ts';
import { setName, type Place } from './places.ts';
import type { ParentReference } from './types.ts';

/** Attachments with all that keeps their hosts from being served, as the data plane will find it: from the listeners that were made. */
export const explain = (gateway: string, { attachments, byHost }: Claims, placed: readonly Placed[], leftOut: readonly string[]): Attachment[] => {
  const unplaced = new Set(leftOut);
  const servingOf = byHostname(placed);
  const parentsOf = new Map<string, Attachment[]>();
  for (const attachment of attachments) parentsOf.set(idOf(attachment), [...(parentsOf.get(idOf(attachment)) ?? []), attachment]);
  return attachments.map((attachment) => {
    const namespace = attachment.route.metadata.namespace!;
    const faults = attachment.hosts.flatMap((host): Fault[] => {
      if (byHost.get(host)!.namespace !== namespace) return [{ reason: 'HostnameConflict', host, message: `${host} is served for another namespace` }];
      const serving = servingOf(host);
      if (!serving?.admits.has(namespace)) return [{ reason: 'ListenerLimitReached', host, message: `there is no listener left for ${host}${unplaced.has(host) ? '' : ' that would keep others out'}` }];
      const siblings = parentsOf.get(idOf(attachment))!.filter(({ hosts }) => hosts.includes(host));
      if (siblings.some(({ parentRef, place }) => reaches(parentRef, place, serving))) return [];
      return [{ reason: 'NoMatchingParent', host, message: `${host} has its listener elsewhere: name ${parentOf(gateway, serving)} in spec.parentRefs` }];
    });
    return { ...attachment, faults: [...attachment.faults, ...faults] };
  });
};

const idOf = ({ route: { kind, metadata } }: Attachment): string => `${kind}/${metadata.namespace}/${metadata.name}`;

/** The listener that requests for a host meet: its own, else the closest wildcard above. */
const byHostname = (placed: readonly Placed[]): ((host: string) => Placed | undefined) => {
  const exact = new Map(placed.flatMap((one) => (one.listener.hostname === undefined ? [] : [[one.listener.hostname, one] as const])));
  const wildcards = placed.filter(({ listener }) => listener.hostname && isWildcard(listener.hostname)).toSorted((a, b) => b.listener.hostname!.length - a.listener.hostname!.length);
  return (host) => exact.get(host) ?? wildcards.find(({ listener }) => isUnder(above(host), above(listener.hostname!)));
};

/** A route attaches to the listeners of what its parentRef names, and to no others. */
const reaches = ({ sectionName, port }: ParentReference, place: Place, serving: Placed): boolean =>
  place === serving.place && (sectionName === undefined || sectionName === serving.listener.name) && (port === undefined || port === serving.listener.port);

const parentOf = (gateway: string, { place, listener }: Placed): string =>
  place === 0 ? `Gateway ${gateway} (sectionName ${listener.name}, or none)` : `ListenerSet ${setName(gateway, place)} (kind ListenerSet, sectionName ${listener.name}, or none)`;
