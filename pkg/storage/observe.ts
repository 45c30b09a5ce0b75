import type { ReflectorHandler } from '../kube/reflector.ts';
import type { WatchCache } from './watch-cache.ts';

/**
 * Feeds a handler from the watch cache as a reflector would: the whole collection once the cache is complete and after
 * each of its relists, then events. Returns how to end it.
 */
export const observeCache = (cache: WatchCache, handler: ReflectorHandler): (() => void) => {
  const ended = new AbortController();
  let unlisten = (): void => undefined;
  const begin = (): void => {
    handler.replace(
      [...cache.list()].map((entry) => entry.object),
      String(cache.version),
    );
    unlisten = cache.listen({
      event: ({ type, entry }) => handler.event(type, entry.object),
      progress: (version) => handler.bookmark?.(String(version)),
      closed: () => queueMicrotask(() => void (ended.signal.aborted || begin())),
    });
  };
  cache.reach(0, ended.signal).then(begin, () => undefined); // rejects only when ended before
  return () => {
    ended.abort();
    unlisten();
  };
};
