import type { TenantGateway } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Clock } from '../../controller/clock.ts';
import { keyOf, type Informer } from '../../controller/informer.ts';
import { issuerNameOf } from '../issuer.ts';
import type { Action } from '../plan.ts';
import type { Certificate } from '../types.ts';
import { allocate, leftOf, longestPeriod, type Allocation, type Issuance, type Wanted } from './budget.ts';
import type { IssuerTable } from './issuers.ts';
import type { Entry, IssuanceLedger } from './ledger.ts';
import { certificateOf, isKnown, issuancesOf } from './observed.ts';
import { orderOf, rationed, type Rationed } from './ration.ts';

export interface DeskOptions {
  ledger: IssuanceLedger;
  issuers: IssuerTable;
  tenantGateways: Pick<Informer<TenantGateway>, 'get'>;
  certificates: Pick<Informer<Certificate>, 'subscribe'>;
  clock: Clock;
}

/** How many new certificates an issuer may still give for a registered domain now. */
export interface BudgetLeft {
  issuer: string;
  domain: string;
  left: number;
}

/** Hands out what ACME servers let us order, to all gateways of the process. */
export class IssuanceDesk {
  /** Told of a gateway that waited and may go on. */
  wake: (gateway: string) => void = () => undefined;
  readonly #options: DeskOptions;
  /** What counts, or did until lately. */
  #history: Entry[] = [];
  /** Told by Certificates, and not yet in the ledger. */
  #told: Entry[] = [];
  /** By gateway, then by certificate: what waits. */
  readonly #waiting = new Map<string, Map<string, Wanted>>();
  /** Granted, by gateway; a Certificate that could not be made is tried again at no further cost. */
  readonly #granted = new Map<string, Map<string, string>>();
  /** Told by Certificates, and not yet looked at. */
  readonly #unjudged: Issuance[] = [];
  #loaded: Promise<void> | undefined;

  constructor(options: DeskOptions) {
    this.#options = options;
    options.certificates.subscribe({
      onAdd: (certificate) => void this.#unjudged.push(...issuancesOf(certificate)),
      onUpdate: (old, certificate) => {
        if (!isAsIssued(old, certificate)) this.#unjudged.push(...issuancesOf(certificate).filter(({ renewal }) => renewal));
      },
    });
  }

  /**
   * The actions of a gateway's plan that may be carried out now. What they order is in the ledger by then.
   * @throws StatusError where the ledger cannot be read or written: then nothing may be ordered
   */
  async ration(gateway: TenantGateway, actions: readonly Action[]): Promise<Rationed> {
    const key = keyOf(gateway);
    const { clock, issuers } = this.#options;
    const name = issuerNameOf(gateway.spec);
    const limits = issuers.get(name)?.limits ?? {};
    const orders = actions.map((action) => orderOf(action, key, clock.now())).filter((order) => order !== undefined);
    this.#settle(key, orders);
    if (orders.length === 0 || longestPeriod(limits) === 0) return rationed(actions, []);
    await (this.#loaded ??= this.#load());
    const now = clock.now();
    if (this.#unjudged.length > 0) this.#note(now);

    const fresh = orders.filter(({ certificate, set }) => this.#granted.get(key)?.get(certificate) !== set);
    const before = this.#waiting.get(key);
    this.#waiting.set(key, new Map(fresh.map((order) => [order.certificate, { ...order, since: before?.get(order.certificate)?.since ?? now }])));
    const { granted, waiting } = this.#allocate(name, key, now);
    const own = granted.filter((order) => order.gateway === key);
    await this.#order(name, own, now);
    for (const other of new Set(granted.map((order) => order.gateway))) if (other !== key) this.wake(other);
    const held = waiting.filter(({ wanted }) => wanted.gateway === key);
    return rationed(actions, held);
  }

  /** A gateway that is gone waits for nothing. */
  forget(key: string): void {
    this.#settle(key, []);
  }

  /** Of the domains that something was ordered for lately. */
  left(): BudgetLeft[] {
    const now = this.#options.clock.now();
    return [...Map.groupBy(this.#history, ({ issuer }) => issuer)].flatMap(([issuer, entries]) => {
      const limits = this.#options.issuers.get(issuer)?.limits ?? {};
      return [...leftOf(limits, entries, now)].map(([domain, left]) => ({ issuer, domain, left }));
    });
  }

  /** What is no longer ordered has been made, or is no longer wanted. */
  #settle(key: string, orders: readonly Wanted[]): void {
    const names = new Set(orders.map(({ certificate }) => certificate));
    for (const held of [this.#granted, this.#waiting]) {
      const mine = held.get(key);
      for (const certificate of mine?.keys() ?? []) if (!names.has(certificate)) mine!.delete(certificate);
      if (mine?.size === 0) held.delete(key);
    }
  }

  async #load(): Promise<void> {
    try {
      this.#history = await this.#options.ledger.read();
    } catch (error) {
      this.#loaded = undefined;
      throw error;
    }
  }

  /** Takes in what Certificates told since, as far as it is news. */
  #note(now: number): void {
    const known = Map.groupBy(this.#history, certificateOf);
    for (const issuance of this.#unjudged.splice(0)) {
      const issuer = this.#issuerOf(issuance.gateway);
      if (issuer === undefined || issuance.at <= now - this.#memory || isKnown(issuance, known.get(certificateOf(issuance)))) continue;
      this.#history.push({ ...issuance, issuer });
      this.#told.push({ ...issuance, issuer });
    }
  }

  #issuerOf(key: string): string | undefined {
    const [namespace = '', name = ''] = key.split('/');
    const gateway = this.#options.tenantGateways.get(namespace, name);
    return gateway && issuerNameOf(gateway.spec);
  }

  get #memory(): number {
    return Math.max(...Array.from(this.#options.issuers.values(), ({ limits }) => longestPeriod(limits)));
  }

  /** Among all that wait for this issuer and want something of what this gateway wants. */
  #allocate(issuer: string, key: string, now: number): Allocation {
    const own = [...(this.#waiting.get(key)?.values() ?? [])];
    const contended = new Set(own.flatMap(({ domains, set }) => [...domains, set]));
    const rivals = [...this.#waiting].filter(([other]) => other !== key && this.#issuerOf(other) === issuer).flatMap(([, orders]) => [...orders.values()]);
    const wanted = [...own, ...rivals.filter(({ domains, set }) => contended.has(set) || domains.some((domain) => contended.has(domain)))];
    const gateways = new Set(wanted.map(({ gateway }) => gateway));
    const sets = new Set(wanted.map(({ set }) => set));
    const domains = new Set(wanted.flatMap((order) => order.domains));
    const matters = (entry: Entry): boolean => entry.issuer === issuer && (gateways.has(entry.gateway) || sets.has(entry.set) || entry.domains.some((domain) => domains.has(domain)));
    return allocate(this.#options.issuers.get(issuer)!.limits, this.#history.filter(matters), wanted, now);
  }

  /** Counts first and writes then: others decide meanwhile. */
  async #order(issuer: string, orders: readonly Wanted[], now: number): Promise<void> {
    if (orders.length === 0) return;
    const entries = orders.map(({ since: _since, ...order }): Entry => ({ ...order, at: now, issuer }));
    const told = this.#told.splice(0);
    this.#history = [...this.#history.filter(({ at }) => at > now - this.#memory), ...entries];
    for (const { gateway, certificate, set } of orders) {
      this.#waiting.get(gateway)?.delete(certificate);
      const mine = this.#granted.get(gateway);
      if (mine) mine.set(certificate, set);
      else this.#granted.set(gateway, new Map([[certificate, set]]));
    }
    try {
      await this.#options.ledger.add([...told, ...entries], now - this.#memory);
    } catch (error) {
      const undone = new Set(entries);
      this.#history = this.#history.filter((entry) => !undone.has(entry));
      for (const { gateway, certificate } of orders) this.#granted.get(gateway)?.delete(certificate);
      this.#told.push(...told);
      throw error;
    }
  }
}

/** Whether nothing was issued between two versions of a Certificate. */
const isAsIssued = (old: Certificate, certificate: Certificate): boolean => old.metadata.uid === certificate.metadata.uid && old.status?.revision === certificate.status?.revision;
