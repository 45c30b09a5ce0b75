import type { Claims } from './claims.ts';
import { above, isWildcard } from './hostnames.ts';
import { admittedBy, inOrder, secretOf, withAdmitted, type Placed } from './listeners.ts';
import { listenerLimit, type Place } from './places.ts';
import type { Listener } from './types.ts';

/** A listener that is there. */
export interface Standing {
  listener: Listener;
  place: Place;
}

export interface HandoverContext {
  /** The gateway's namespace. */
  owner: string;
  claims: Claims;
  /** Namespaces that are attached to the gateway. */
  attached: ReadonlySet<string>;
  /** Whether a Secret holds a certificate; undefined where nobody here can tell. */
  hasCertificate: (secret: string) => boolean | undefined;
  /** Whether a certificate is expected: it was ordered, and no order has failed. */
  isExpected: (secret: string) => boolean;
}

export interface Handover {
  placed: Placed[];
  /** Listeners that wait for their certificates, or with others for theirs, while what was there before serves their hosts. */
  waiting: Placed[];
}

/**
 * The listeners to have for now. One whose certificate is not there yet could serve nobody, and would keep clients from what serves
 * its host so far: another mode's listener goes on until it can. So a switch of modes, in either direction, drops no request. Pure.
 */
export const handOver = (wanted: readonly Placed[], standing: readonly Standing[], context: HandoverContext): Handover => {
  const isThere = ({ listener }: Placed): boolean => standing.some((one) => isSame(one.listener, listener));
  const pending = wanted.filter((one) => isPending(one, context) && !isThere(one));
  if (pending.length === 0) return { placed: [...wanted], waiting: [] };
  const settled = wanted.filter((one) => !pending.includes(one));
  const taken = new Set(settled.flatMap(({ listener: { name, hostname } }) => [name, hostname]));
  const kept = standing.flatMap(({ listener, place }): Placed[] => {
    const secret = secretOf(listener);
    if (secret === undefined || context.hasCertificate(secret) === false || taken.has(listener.name) || taken.has(listener.hostname)) return [];
    if (!pending.some((one) => sharesHosts(one.listener, listener))) return [];
    const admits = stillAdmitted(listener, standing, context);
    return admits.size > 0 ? [{ listener: withAdmitted(listener, context.owner, admits), place, admits }] : [];
  });
  const isServedBefore = ({ listener }: Placed): boolean => kept.some((one) => one.listener.name === listener.name || sharesHosts(one.listener, listener));
  const late = pending.filter(isServedBefore);
  const waiting = [...late, ...settled.filter(({ listener }) => leavesWith(late, kept, standing, listener, context))];
  const now = [...wanted.filter((one) => !waiting.includes(one)), ...kept];
  const rankOf = (one: Placed): number => (isThere(one) || kept.includes(one) ? 0 : isServedBefore(one) ? 2 : 1);
  const excess = beyondLimit(now.toSorted((a, b) => rankOf(a) - rankOf(b)));
  return { placed: inOrder(now.filter((one) => !excess.has(one))), waiting: [...waiting, ...excess] };
};

/**
 * Whether a host is to leave a wildcard's listener together with others, whose certificates are expected. One by one, they would be
 * missed for a moment: a data plane may take a host off the routes of the wildcard before the host's own listener is up.
 */
const leavesWith = (late: readonly Placed[], kept: readonly Placed[], standing: readonly Standing[], listener: Listener, { isExpected }: HandoverContext): boolean =>
  secretOf(listener) !== undefined &&
  !standing.some((one) => one.listener.hostname === listener.hostname) &&
  kept.some(({ listener: wildcard }) => isWildcard(wildcard.hostname ?? '') && sharesHosts(wildcard, listener) && late.some((one) => sharesHosts(wildcard, one.listener) && isExpected(secretOf(one.listener)!)));

const isPending = ({ listener }: Placed, { hasCertificate }: HandoverContext): boolean => {
  const secret = secretOf(listener);
  return secret !== undefined && hasCertificate(secret) !== true;
};

const isSame = (a: Listener, b: Listener): boolean => a.hostname === b.hostname && secretOf(a) === secretOf(b);

/** Whether a host may be served by either of two listeners, with a certificate whose wildcard covers one label. */
const sharesHosts = ({ hostname: a = '' }: Listener, { hostname: b = '' }: Listener): boolean => a === b || ((isWildcard(a) || isWildcard(b)) && above(a) === above(b));

/** The namespaces that a listener goes on to admit: none that lost its host since. A wildcard that the new mode does not have goes with the listener. */
const stillAdmitted = (listener: Listener, standing: readonly Standing[], { claims, attached }: HandoverContext): ReadonlySet<string> => {
  const { hostname = '' } = listener;
  if (!isWildcard(hostname)) {
    const claim = claims.byHost.get(hostname);
    return new Set(claim ? [claim.namespace] : []);
  }
  const pinned = new Set(standing.map((one) => one.listener.hostname));
  const losers = [...claims.byHost.values()].filter(({ host }) => above(host) === above(hostname) && !pinned.has(host)).flatMap(({ rivals }) => [...rivals]);
  return admittedBy(listener).intersection(attached).difference(claims.hostless).difference(new Set(losers));
};

/** Those that find no room, of listeners in the order in which they get it. */
const beyondLimit = (placed: readonly Placed[]): Set<Placed> => {
  const taken = new Map<Place, number>([[0, 0]]);
  return new Set(
    placed.filter(({ place }) => {
      taken.set(place, (taken.get(place) ?? 0) + 1);
      return taken.get(place)! > listenerLimit;
    }),
  );
};
