import type { Limit, RateLimits } from './issuers.ts';
import { compare } from '../compare.ts';

/** A certificate that was ordered, or may yet be. Of one ACME server: budgets of two have nothing to do with each other. */
export interface Issuance {
  /** Milliseconds since 1970. */
  at: number;
  /** `namespace/name` of the TenantGateway, whose account orders it. */
  gateway: string;
  /** Name of the Certificate. */
  certificate: string;
  /** Registered domains of its names. */
  domains: readonly string[];
  /** Which set of names; see `setOf`. */
  set: string;
  /** By cert-manager on its own: counts as an order and as a duplicate, but not as new for its domains. */
  renewal?: boolean;
}

/** A certificate that a gateway wants. */
export type Wanted = Omit<Issuance, 'at' | 'renewal'> & {
  /** Since when, in milliseconds since 1970. */
  since: number;
};

/** Why a certificate has to wait, and until when at least. */
export interface Wait {
  wanted: Wanted;
  /** Milliseconds since 1970. */
  until: number;
  limit: keyof RateLimits;
  /** The registered domain whose budget is spent. */
  domain?: string;
  allowed: Limit;
}

export interface Allocation {
  granted: Wanted[];
  waiting: Wait[];
}

/** A limit as it concerns one certificate: of a domain, of a set of names, or of a gateway's account. */
interface Account {
  key: string;
  name: keyof RateLimits;
  domain?: string;
  limit: Limit;
}

/** Times by what they count against, in order. */
class Spent {
  readonly #times = new Map<string, number[]>();
  readonly #sets = new Set<string>();

  constructor(history: readonly Issuance[]) {
    for (const issuance of history.toSorted((a, b) => a.at - b.at)) this.add(issuance, issuance.at);
  }

  /** Nothing is added earlier than what was before. What was had before is no new certificate for its domains. */
  add(issuance: Wanted | Issuance, at: number): void {
    const isNew = !('renewal' in issuance && issuance.renewal) && !this.#sets.has(issuance.set);
    this.#sets.add(issuance.set);
    if (isNew) for (const domain of issuance.domains) this.#push(`domain ${domain}`, at);
    this.#push(`set ${issuance.set}`, at);
    this.#push(`gateway ${issuance.gateway}`, at);
  }

  accountsOf({ gateway, domains, set }: Wanted, { certificatesPerDomain, duplicates, orders }: RateLimits): Account[] {
    const accounts: Account[] = [];
    if (certificatesPerDomain && !this.#sets.has(set)) for (const domain of domains) accounts.push({ key: `domain ${domain}`, name: 'certificatesPerDomain', domain, limit: certificatesPerDomain });
    if (duplicates) accounts.push({ key: `set ${set}`, name: 'duplicates', limit: duplicates });
    if (orders) accounts.push({ key: `gateway ${gateway}`, name: 'orders', limit: orders });
    return accounts;
  }

  /** From when on a limit has room for whoever comes after `ahead` others: what lies further back than its period no longer counts. */
  roomFrom({ key, limit: { count, periodMs } }: Account, ahead: number, now: number): number {
    const times = this.#times.get(key) ?? [];
    const turn = ahead - Math.max(0, count - times.length); // after what is free now
    if (turn < 0) return now;
    const place = Math.max(times.length, count) - count + (turn % count);
    return Math.max(now, (times[place] ?? now) + (Math.floor(turn / count) + 1) * periodMs);
  }

  timesOfDomains(): [domain: string, times: readonly number[]][] {
    return [...this.#times].flatMap(([key, times]) => (key.startsWith('domain ') ? [[key.slice('domain '.length), times] as [string, number[]]] : []));
  }

  #push(key: string, at: number): void {
    const times = this.#times.get(key);
    if (times) times.push(at);
    else this.#times.set(key, [at]);
  }
}

/**
 * Which of the certificates that are wanted may be ordered now, and until when the others wait at least. Fair over gateways: whoever has
 * had least, within the longest period that counts, comes next; among equals the one that waits longest. Pure.
 * `history` may hold what is out of date; `wanted` holds everything that waits, of all gateways.
 */
export const allocate = (limits: RateLimits, history: readonly Issuance[], wanted: readonly Wanted[], now: number): Allocation => {
  const recent = history.filter(({ at }) => at + longestPeriod(limits) > now);
  const spent = new Spent(recent);
  const granted: Wanted[] = [];
  const denied: { next: Wanted; accounts: Account[]; ahead: number[] }[] = [];
  /** How many wait for each account. */
  const queues = new Map<string, number>();
  for (const next of inTurn(recent, wanted)) {
    const accounts = spent.accountsOf(next, limits);
    if (accounts.every((account) => spent.roomFrom(account, 0, now) <= now)) {
      spent.add(next, now);
      granted.push(next);
      continue;
    }
    const ahead = accounts.map(({ key }) => queues.get(key) ?? 0);
    for (const [index, { key }] of accounts.entries()) queues.set(key, ahead[index]! + 1);
    denied.push({ next, accounts, ahead });
  }
  const waiting = denied.map(({ next, accounts, ahead }): Wait => {
    const times = accounts.map((account, index) => spent.roomFrom(account, ahead[index]!, now));
    const until = Math.max(...times);
    const { name, domain, limit } = accounts[times.indexOf(until)]!;
    return { wanted: next, until, limit: name, ...(domain && { domain }), allowed: limit };
  });
  return { granted, waiting };
};

/** How many new certificates there may still be for each registered domain that has had any lately. */
export const leftOf = (limits: RateLimits, history: readonly Issuance[], now: number): Map<string, number> => {
  const { certificatesPerDomain } = limits;
  if (!certificatesPerDomain) return new Map();
  const { count, periodMs } = certificatesPerDomain;
  const spent = new Spent(history.filter(({ at }) => at + longestPeriod(limits) > now)).timesOfDomains();
  return new Map(spent.map(([domain, times]) => [domain, Math.max(0, count - times.filter((at) => at + periodMs > now).length)]));
};

/** How long an issuance may count, at the longest; 0 where nothing is limited. */
export const longestPeriod = (limits: RateLimits): number => Math.max(0, ...Object.values(limits as Record<string, Limit>).map(({ periodMs }) => periodMs));

/** The order in which gateways take turns. */
const inTurn = (history: readonly Issuance[], wanted: readonly Wanted[]): Wanted[] => {
  const had = new Map<string, number>();
  for (const { gateway } of history) had.set(gateway, (had.get(gateway) ?? 0) + 1);
  const taken = new Map<string, number>();
  return wanted
    .toSorted(bySince)
    .map((item) => {
      const before = taken.get(item.gateway) ?? 0;
      taken.set(item.gateway, before + 1);
      return { item, turn: (had.get(item.gateway) ?? 0) + before };
    })
    .toSorted((a, b) => a.turn - b.turn || bySince(a.item, b.item))
    .map(({ item }) => item);
};

const bySince = (a: Wanted, b: Wanted): number => a.since - b.since || compare(a.gateway, b.gateway) || compare(a.certificate, b.certificate);
