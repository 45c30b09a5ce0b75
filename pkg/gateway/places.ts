import { compare } from './compare.ts';

/** Gateway API's cap on the listeners of a Gateway, and of a ListenerSet. */
export const listenerLimit = 64;

/** Where a listener stands: 0 in the Gateway, n in its n-th ListenerSet. */
export type Place = number;

export const setName = (gateway: string, place: Place): string => `${gateway}-${place}`;

/** The way back from setName. */
export const placeOf = (name: string): { gateway: string; place: Place } | undefined => {
  const [, gateway, place] = /^(.+)-([1-9][0-9]{0,3})$/.exec(name) ?? [];
  return gateway === undefined ? undefined : { gateway, place: Number(place) };
};

/** A listener that wants a place. */
export interface Candidate {
  name: string;
  /** When what wants it was made: who came first is served first. */
  since: string;
  /** Where those that want it would find it. */
  reaches: ReadonlySet<Place>;
}

/** How much room there is. */
export interface Room {
  /** Places in the Gateway. */
  gateway: number;
  /** Whether there may be ListenerSets. */
  sets: boolean;
}

/**
 * A place for each candidate, by name; those without one found no room. Whoever `held` a place keeps it, so that one more moves
 * no other; but who stands in a set that it does not reach goes to the Gateway once there is room.
 */
export const assignPlaces = (candidates: readonly Candidate[], held: ReadonlyMap<string, Place>, room: Room): Map<string, Place> => {
  const places = new Map<string, Place>();
  const taken = new Map<Place, number>();
  const hasRoom = (place: Place): boolean => (place === 0 ? (taken.get(0) ?? 0) < room.gateway : room.sets && (taken.get(place) ?? 0) < listenerLimit);
  const put = ({ name }: Candidate, place: Place): void => {
    const before = places.get(name);
    if (before !== undefined) taken.set(before, taken.get(before)! - 1);
    places.set(name, place);
    taken.set(place, (taken.get(place) ?? 0) + 1);
  };
  const sorted = candidates.toSorted((a, b) => compare(a.since, b.since) || compare(a.name, b.name));
  for (const candidate of sorted) {
    const place = held.get(candidate.name);
    if (place !== undefined && hasRoom(place)) put(candidate, place);
  }
  for (const candidate of sorted) {
    const place = places.get(candidate.name);
    if (place !== undefined && !candidate.reaches.has(place) && candidate.reaches.has(0) && hasRoom(0)) put(candidate, 0);
  }
  for (const candidate of sorted) {
    if (places.has(candidate.name)) continue;
    const reached = [...candidate.reaches].toSorted((a, b) => a - b).find(hasRoom);
    const place = reached ?? (room.sets ? firstSet(hasRoom) : undefined);
    if (place !== undefined) put(candidate, place);
  }
  return places;
};

const firstSet = (hasRoom: (place: Place) => boolean): Place => {
  let place = 1;
  while (!hasRoom(place)) place += 1;
  return place;
};
