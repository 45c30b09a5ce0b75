import type { Store } from './store.ts';

/** How long a fence is waited for. */
const fenceTimeoutMs = 1000;

/**
 * Makes the cache as fresh as the moment of the call.
 * @returns false where no fence succeeded: the cache may be stale
 */
export const freshen = async ({ cache, fence }: Pick<Store, 'cache' | 'fence'>, signal: AbortSignal, timeoutMs = fenceTimeoutMs): Promise<boolean> => {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    await cache.reach(await bounded(fence.version(), limit), limit);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
};

const bounded = <T>(work: Promise<T>, limit: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(limit.reason as Error);
    limit.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => limit.removeEventListener('abort', abort));
  });
