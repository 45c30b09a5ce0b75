import { setTimeout as sleep } from 'node:timers/promises';
import { Batches } from '../kube/batches.ts';
import { hasCode } from '../kube/status-error.ts';
import { charge, release, type Charged, type ResourceQuota } from './quota-charge.ts';

/** Where the status of one quota is kept. */
export interface QuotaStatus {
  /** The quota as it was last seen; undefined once it is gone. */
  known(): ResourceQuota | undefined;
  /** Undefined where it is gone. */
  read(): Promise<ResourceQuota | undefined>;
  /** Writes the status at the very version that the quota has. @throws StatusError 404, 409 */
  write(quota: ResourceQuota): Promise<ResourceQuota>;
}

/** Gives a place back; where others have written to the quota since, they have counted anew or will. */
export type GiveBack = () => Promise<void>;

/** Other replicas and the quota controller write too, each once for many requests. */
const attempts = 10;
const maxPauseMs = 40;

interface Waiting {
  charged: Charged;
  resolve: (giveBack: GiveBack | undefined) => void;
  reject: (error: unknown) => void;
}

/** Consecutive versions of a quota that this process alone has written. */
interface Streak {
  version: string | undefined;
}

/** The places in one quota. */
export class QuotaPlaces {
  readonly #status: QuotaStatus;
  readonly #batches = new Batches<Waiting>((requests) => this.#serve(requests));
  #streak: Streak = { version: undefined };

  constructor(status: QuotaStatus) {
    this.#status = status;
  }

  /**
   * Takes a place for one more object.
   * @returns undefined where the quota says nothing of the resource
   * @throws StatusError 403 where there is no room, 409 where too many others write to the quota
   */
  take(charged: Charged): Promise<GiveBack | undefined> {
    return new Promise((resolve, reject) => this.#batches.add([{ charged, resolve, reject }]));
  }

  async #serve(requests: readonly Waiting[]): Promise<void> {
    try {
      let quota = this.#status.known();
      for (let attempt = 1; quota; attempt += 1) {
        const { charged, admitted, refused } = divide(requests, quota);
        try {
          if (admitted.length > 0) await this.#write(charged);
        } catch (error) {
          if (hasCode(error, 404)) break;
          if (!hasCode(error, 409) || attempt === attempts) throw error;
          await sleep(Math.random() * maxPauseMs);
          quota = await this.#status.read();
          continue;
        }
        const streak = this.#streak;
        for (const { request, error } of refused) request.reject(error);
        for (const { charged: one, resolve } of admitted) resolve(() => this.#giveBack(one, streak));
        break;
      }
      for (const { resolve } of requests) resolve(undefined); // of those that were not answered: the quota asks for nothing
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }

  #giveBack(charged: Charged, streak: Streak): Promise<void> {
    return this.#batches.inTurn(async () => {
      const quota = this.#status.known();
      if (quota && streak === this.#streak && quota.metadata.resourceVersion === streak.version) await this.#write(release(charged, quota));
    });
  }

  async #write(quota: ResourceQuota): Promise<void> {
    const { resourceVersion: before } = quota.metadata;
    const { resourceVersion: version } = (await this.#status.write(quota)).metadata;
    if (this.#streak.version === before) this.#streak.version = version;
    else this.#streak = { version };
  }
}

/** Who fits into a quota, in the order of their coming, and the quota with all of these. */
const divide = (requests: readonly Waiting[], quota: ResourceQuota): { charged: ResourceQuota; admitted: Waiting[]; refused: { request: Waiting; error: unknown }[] } => {
  const admitted: Waiting[] = [];
  const refused: { request: Waiting; error: unknown }[] = [];
  let charged = quota;
  for (const request of requests) {
    try {
      const next = charge(request.charged, charged);
      if (next) admitted.push(request);
      charged = next ?? charged;
    } catch (error) {
      refused.push({ request, error });
    }
  }
  return { charged, admitted, refused };
};
