import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../kube/client.ts';
import { StatusError } from '../kube/status-error.ts';

/** Puts a question to the kube-apiserver: a TokenReview or SubjectAccessReview goes there, and comes back with its status. */
export type SubmitReview = <T extends object>(path: string, review: T) => Promise<T>;

export interface ReviewOptions {
  /** For all attempts together, in milliseconds. */
  timeoutMs?: number;
  /** Waits before another attempt. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** What apiserver's delegating options have as their default. */
const attempts = 5;
const firstDelayMs = 500;
const delayFactor = 1.5;
const jitter = 0.2;

/** Reviews by a client; what may pass by itself (500, 503, 504, 429, a lost connection) is tried again for a while. */
export const reviewsBy = (client: Pick<KubeClient, 'json'>, { timeoutMs = 10_000, wait = pause }: ReviewOptions = {}): SubmitReview =>
  async <T extends object>(path: string, body: T): Promise<T> => {
    const signal = AbortSignal.timeout(timeoutMs);
    for (let attempt = 1, delay = firstDelayMs; ; attempt += 1, delay *= delayFactor) {
      try {
        return await client.json<T>({ method: 'POST', path, body, timeoutMs, signal });
      } catch (error) {
        if (signal.aborted) throw StatusError.unavailable(`the kube-apiserver did not answer a review within ${timeoutMs} ms`, error);
        if (attempt === attempts || !mayPass(error)) throw error;
        await wait(delay * (1 + Math.random() * jitter), signal).catch(() => undefined);
        if (signal.aborted) throw error;
      }
    }
  };

const pause = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal });

const mayPass = (error: unknown): boolean =>
  error instanceof StatusError && ([429, 500, 503, 504].includes(error.code) || error.status.details?.retryAfterSeconds !== undefined);
