import { setTimeout as sleep } from 'node:timers/promises';
import { Batches } from '../../kube/batches.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import { rootNamespace } from '../names.ts';
import { BudgetTree, budgetFaults, type Budget, type BudgetFault, type UseOf } from './budget-tree.ts';
import type { Ledger, LedgerStore, Reservation } from './ledger.ts';

export interface BudgetReservationsOptions {
  ledger: LedgerStore;
  /** All budgets, as fresh as the moment of the call. */
  declared: () => Promise<readonly Budget[]>;
  useOf: UseOf;
  /** How long a write may take that a reservation is for, and how far clocks may differ besides. */
  holdMs: number;
  /** Unique among replicas. */
  identity: string;
  now?: () => number;
}

/** What becomes of a budget that is asked for. */
export type Outcome =
  /** To be ended once the budget is written, or surely will not be. */
  | { reserved: () => void }
  | { faults: readonly BudgetFault[] }
  /** A namespace above that belongs to no Tenant. */
  | { missing: string };

interface Waiting {
  after: Budget;
  dryRun: boolean;
  since: number;
  attempt: number;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** How often a ledger that others write to is tried, and how long is paused at the most before it is read again. */
const writeAttempts = 20;
const maxConflictPauseMs = 60;
/** How long a request waits for changes that are under way. */
const patienceMs = 10_000;
const firstPauseMs = 50;
const maxPauseMs = 1000;
/** Reservations that ended are taken out together. */
const endingPauseMs = 50;
const endingRetryMs = 1000;

/**
 * Lets budgets in so that no two changes give away the same, at however many replicas. Each change that is let in is in the ledger
 * until its record is written; whoever reads the ledger, and after that all records, sees it in one or the other. And a reservation
 * is written at the very version that was read: of two that were judged at once, one is judged again, with the other in sight.
 */
export class BudgetReservations {
  readonly #options: BudgetReservationsOptions;
  readonly #now: () => number;
  readonly #batches = new Batches<Waiting>((requests) => this.#serve(requests));
  /** As this process last saw it; a later one may exist. */
  #known: Ledger | undefined;
  /** What ended here and may still be in the ledger, by id, with the time at which it does not count any more anyway. */
  readonly #ended = new Map<string, number>();
  #ending: NodeJS.Timeout | undefined;
  #wake = Promise.withResolvers<void>();
  #count = 0;

  constructor(options: BudgetReservationsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Judges a budget, and reserves it where nothing is against it and it is no dry run. Where only changes under way are in the way, they are waited for.
   * @throws StatusError 429 where these take too long, 503 where records or the ledger cannot be had
   */
  reserve(after: Budget, { dryRun = false }: { dryRun?: boolean } = {}): Promise<Outcome> {
    return new Promise((resolve, reject) => this.#batches.add([{ after, dryRun, since: this.#now(), attempt: 0, resolve, reject }]));
  }

  /** Takes what ended out of the ledger. */
  async stop(): Promise<void> {
    clearTimeout(this.#ending);
    await this.#batches.inTurn(() => this.#removeEnded()).catch(() => undefined); // else it expires
  }

  async #serve(requests: readonly Waiting[]): Promise<void> {
    try {
      for (let attempt = 1; ; attempt += 1) {
        const ledger = this.#known ?? (await this.#options.ledger.read());
        this.#known = ledger;
        const pending = this.#pending(ledger); // before the records are read: what is in neither must have failed
        const verdicts = judge(requests, await this.#options.declared(), pending, this.#options.useOf);
        const admitted = requests.filter((request) => verdicts.get(request) === 'admitted' && !request.dryRun);
        const ids = await this.#write(ledger, pending, admitted);
        if (ids) return this.#answer(requests, verdicts, ids);
        if (attempt === writeAttempts) throw StatusError.tooManyRequests('too many changes of budgets at once; try again');
        await sleep(Math.random() * maxConflictPauseMs);
      }
    } catch (error) {
      this.#known = undefined;
      for (const { reject } of requests) reject(error);
    }
  }

  #pending({ reservations }: Ledger): Map<string, Reservation> {
    const now = this.#now();
    return new Map(Array.from(reservations).filter(([id, { until }]) => until > now && !this.#ended.has(id)));
  }

  /** @returns ids of the reservations; undefined where somebody else was faster */
  async #write({ version }: Ledger, pending: ReadonlyMap<string, Reservation>, admitted: readonly Waiting[]): Promise<Map<Waiting, string> | undefined> {
    const ids = new Map(admitted.map((request) => [request, this.#newId()]));
    if (ids.size === 0) return ids;
    const until = this.#now() + this.#options.holdMs;
    const added = admitted.map((request): [string, Reservation] => [ids.get(request)!, { budget: request.after, until }]);
    try {
      this.#known = await this.#options.ledger.write({ version, reservations: new Map([...pending, ...added]) });
    } catch (error) {
      this.#known = undefined;
      if (hasCode(error, 409)) return undefined;
      for (const id of ids.values()) this.#end(id, until); // it may have been written all the same
      throw error;
    }
    for (const id of this.#ended.keys()) if (!this.#known.reservations.has(id)) this.#ended.delete(id);
    // A process that was stopped for so long must not write what others no longer reckon with.
    if (this.#now() < until - this.#options.holdMs / 2) return ids;
    for (const id of ids.values()) this.#end(id, until);
    throw StatusError.unavailable('the budget could not be reserved in time; try again');
  }

  #answer(requests: readonly Waiting[], verdicts: ReadonlyMap<Waiting, Verdict>, ids: ReadonlyMap<Waiting, string>): void {
    const blocked: Waiting[] = [];
    for (const request of requests) {
      const verdict = verdicts.get(request)!;
      const id = ids.get(request);
      if (verdict === 'blocked') blocked.push(request);
      else if (verdict === 'admitted') request.resolve({ reserved: () => void (id && this.#end(id, this.#now() + this.#options.holdMs)) });
      else request.resolve(verdict);
    }
    if (blocked.length > 0) void this.#later(blocked);
  }

  /** Judges again once something ended here, or after a while. */
  async #later(requests: readonly Waiting[]): Promise<void> {
    const now = this.#now();
    const patient = requests.filter(({ since }) => now - since < patienceMs);
    for (const request of requests) {
      if (!patient.includes(request)) request.reject(StatusError.tooManyRequests(`what tenant ${request.after.tenant} asks for depends on other changes of budgets, which are under way; try again`));
      request.attempt += 1;
    }
    if (patient.length === 0) return;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(...patient.map(({ attempt }) => attempt - 1)));
    const woken = new AbortController();
    await Promise.race([this.#wake.promise, sleep(pauseMs, undefined, { signal: woken.signal }).catch(() => undefined)]);
    woken.abort();
    this.#known = undefined; // what others reserved may have ended too
    this.#batches.add(patient);
  }

  #newId(): string {
    this.#count += 1;
    return `${this.#options.identity}.${this.#count}`.replaceAll(/[^-._a-zA-Z0-9]/g, '-');
  }

  #end(id: string, until: number): void {
    this.#ended.set(id, until);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
    this.#endSoon(endingPauseMs);
  }

  #endSoon(pauseMs: number): void {
    this.#ending ??= setTimeout(() => {
      this.#ending = undefined;
      this.#batches.inTurn(() => this.#removeEnded()).catch(() => this.#endSoon(endingRetryMs));
    }, pauseMs).unref();
  }

  async #removeEnded(): Promise<void> {
    const now = this.#now();
    for (const [id, until] of this.#ended) if (until < now) this.#ended.delete(id);
    const ids = Array.from(this.#ended.keys());
    if (ids.length === 0) return;
    this.#known = undefined;
    this.#known = await this.#options.ledger.remove(ids);
    for (const id of ids) this.#ended.delete(id);
  }
}

/** Blocked is what changes under way are against, and nothing else. */
type Verdict = 'admitted' | 'blocked' | { faults: readonly BudgetFault[] } | { missing: string };

/** In the order of their coming; each sees those before it as under way. */
const judge = (requests: readonly Waiting[], declared: readonly Budget[], pending: ReadonlyMap<string, Reservation>, useOf: UseOf): Map<Waiting, Verdict> => {
  const tree = new BudgetTree([...declared, ...Array.from(pending.values(), ({ budget }) => budget)]);
  const before = new Map(declared.map((budget) => [budget.tenant, budget]));
  let settled: BudgetTree | undefined;
  return new Map(
    requests.map((request): [Waiting, Verdict] => {
      const { after, dryRun } = request;
      const missing = tree.missingAbove(after); // Tenant root may come last: its namespace is there from the start
      if (missing !== undefined && missing !== rootNamespace) return [request, { missing }];
      if (budgetFaults(tree, before.get(after.tenant), after, useOf).length === 0) {
        if (!dryRun) tree.add(after);
        return [request, 'admitted'];
      }
      settled ??= new BudgetTree(declared);
      const faults = budgetFaults(settled, before.get(after.tenant), after, useOf);
      return [request, faults.length > 0 ? { faults } : 'blocked'];
    }),
  );
};
