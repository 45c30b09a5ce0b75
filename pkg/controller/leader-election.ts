import { hasCode, ifFound } from '../kube/status-error.ts';
import type { KubeClient } from '../kube/client.ts';
import { microTime, sleep, systemClock, type Clock } from './clock.ts';
import { claimLease, type Lease, type LeaseSpec, type ObservedLease } from './lease.ts';
import type { Log } from './log.ts';

export interface LeaderElectionOptions {
  client: Pick<KubeClient, 'json'>;
  namespace: string;
  name: string;
  /** Unlike that of any other process, this one's earlier runs included. */
  identity: string;
  log: Log;
  /** How long others leave a lease alone that is not renewed. */
  leaseDurationMs?: number;
  /** How long the leader tries to renew before it stops leading; shorter than the lease. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  clock?: Clock;
}

export interface LeaderCallbacks {
  onStartedLeading(): Promise<void> | void;
  /** Resolves when nothing is written any more; only then may the lease be given to others. */
  onStoppedLeading(): Promise<void> | void;
}

/** One leader among the replicas, by a coordination.k8s.io/v1 Lease and client-go's algorithm. */
export class LeaderElection {
  readonly #options: Required<LeaderElectionOptions>;
  readonly #stop = new AbortController();
  #observed: ObservedLease | undefined;
  #running: Promise<void> | undefined;
  #leading = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, clock: systemClock, ...options };
    const { leaseDurationMs: lease, renewDeadlineMs: renew, retryPeriodMs: retry } = this.#options;
    if (lease <= renew) throw new RangeError(`lease duration (${lease} ms) must be longer than the renew deadline (${renew} ms)`);
    if (renew <= retry * 1.2) throw new RangeError(`renew deadline (${renew} ms) must be longer than 1.2 retry periods (${retry} ms each)`);
  }

  get isLeader(): boolean {
    return this.#leading;
  }

  /** Competes until stop; a leader that loses competes again. */
  run(callbacks: LeaderCallbacks): void {
    this.#running ??= this.#run(callbacks);
  }

  /** Ends leading if need be, then gives the lease back so that another takes over at once. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(callbacks: LeaderCallbacks): Promise<void> {
    const { log, identity } = this.#options;
    while (await this.#acquire()) {
      this.#leading = true;
      log.info({ identity }, 'started leading');
      const started = Promise.resolve()
        .then(() => callbacks.onStartedLeading())
        .catch((error: unknown) => log.error({ err: error }, 'could not start the loop'));
      await this.#renew();
      this.#leading = false;
      await started;
      await Promise.resolve()
        .then(() => callbacks.onStoppedLeading())
        .catch((error: unknown) => log.error({ err: error }, 'could not stop the loop cleanly'));
      log.info({ identity }, 'stopped leading');
      if (this.#stop.signal.aborted) await this.#release();
    }
  }

  /** True once the lease is ours, false when stopped. */
  async #acquire(): Promise<boolean> {
    const { clock, retryPeriodMs, renewDeadlineMs } = this.#options;
    while (!this.#stop.signal.aborted) {
      if (await this.#try(renewDeadlineMs)) return true;
      await sleep(clock, retryPeriodMs * (1 + Math.random() * 0.2), this.#stop.signal); // client-go's jitter: replicas do not meet
    }
    return false;
  }

  /** Returns when the lease could not be renewed in time, or when stopped. */
  async #renew(): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs, log } = this.#options;
    let deadline = clock.now() + renewDeadlineMs;
    while (!this.#stop.signal.aborted) {
      await sleep(clock, Math.min(retryPeriodMs, deadline - clock.now()), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const began = clock.now(); // the write may have happened long before its answer came
      if (began < deadline && (await this.#try(deadline - began))) deadline = began + renewDeadlineMs;
      else if (clock.now() >= deadline || this.#isTaken()) {
        log.warn({ holder: this.#holder() }, 'lost the lease');
        return;
      }
    }
  }

  #isTaken(): boolean {
    return this.#observed !== undefined && this.#holder() !== this.#options.identity;
  }

  #holder(): string {
    return this.#observed?.lease.spec?.holderIdentity ?? '';
  }

  /** One attempt that takes at most `withinMs`. */
  async #try(withinMs: number): Promise<boolean> {
    const { clock, log } = this.#options;
    const timeout = new AbortController();
    const cancel = clock.after(Math.max(withinMs, 1), () => timeout.abort(new Error('no answer in time')));
    try {
      return await this.#claim(timeout.signal);
    } catch (error) {
      if (hasCode(error, 409)) this.#observed = undefined; // ours is old: look first
      else log.warn({ err: error }, 'cannot reach the lease');
      return false;
    } finally {
      cancel();
    }
  }

  async #claim(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDurationMs } = this.#options;
    // A leader writes over what it wrote; a 409 tells it to look first.
    if (this.#holder() !== identity || !this.#observed) {
      const lease = await this.#read(signal);
      if (!lease) return this.#write(undefined, claimLease({ lease: emptyLease, since: 0 }, identity, leaseDurationMs, clock.now()), signal);
      this.#observe(lease);
    }
    return this.#write(this.#observed!.lease, claimLease(this.#observed!, identity, leaseDurationMs, clock.now()), signal);
  }

  async #write(lease: Lease | undefined, claim: ReturnType<typeof claimLease>, signal: AbortSignal): Promise<boolean> {
    if (claim.kind === 'wait') return false;
    this.#observe(lease ? await this.#update(lease, claim.spec, signal) : await this.#create(claim.spec, signal));
    return true;
  }

  #observe(lease: Lease): void {
    if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = { lease, since: this.#options.clock.now() };
  }

  get #path(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases`;
  }

  #read(signal: AbortSignal): Promise<Lease | undefined> {
    return ifFound(this.#options.client.json<Lease>({ path: `${this.#path}/${this.#options.name}`, signal }));
  }

  #create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { namespace, name } = this.#options;
    const body: Lease = { ...emptyLease, metadata: { namespace, name }, spec: { ...spec, leaseTransitions: 0 } };
    return this.#options.client.json<Lease>({ method: 'POST', path: this.#path, body, signal });
  }

  #update(lease: Lease, spec: LeaseSpec, signal?: AbortSignal): Promise<Lease> {
    const body: Lease = { ...lease, spec: { ...lease.spec, ...spec } };
    return this.#options.client.json<Lease>({ method: 'PUT', path: `${this.#path}/${this.#options.name}`, body, signal });
  }

  async #release(): Promise<void> {
    const { clock, log, identity } = this.#options;
    if (!this.#observed || this.#holder() !== identity) return;
    const now = microTime(clock.now());
    try {
      await this.#update(this.#observed.lease, { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now });
    } catch (error) {
      log.warn({ err: error }, 'could not give the lease back; others wait until it ends');
    }
  }
}

const emptyLease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {} };
