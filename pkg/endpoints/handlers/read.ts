import { StatusError } from '../../kube/status-error.ts';
import { CacheEntry } from '../../storage/cache-entry.ts';
import { freshen } from '../../storage/freshen.ts';
import { EntryRange } from '../../storage/leaf.ts';
import type { Store } from '../../storage/store.ts';
import { decodeContinue, encodeContinue } from '../continue-token.ts';
import type { ListOptions } from './list-options.ts';

/** A page of a list, as of one version. */
export interface Page {
  entries: EntryRange;
  version: number;
  continue?: string;
  remainingItemCount?: number;
}

/** As the kube-apiserver: how long a version that was not seen yet is waited for. */
const versionTimeoutMs = 3000;

/** @throws StatusError 429 while the cache is filling: a list that misses objects must never be given */
export const requireComplete = ({ cache }: Store): void => {
  if (!cache.complete) throw StatusError.tooManyRequests('the cache of the resource is being filled; try again', 1);
};

/**
 * Waits until the cache has a version that a client named.
 * @throws StatusError 504 where it is ahead of all that was written
 */
export const reachVersion = async (store: Store, version: number, signal: AbortSignal): Promise<void> => {
  const { cache, fence } = store;
  if (cache.version >= version) return;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(versionTimeoutMs)]);
  fence.version().catch(() => undefined); // moves the cache on where nothing else is written
  try {
    await cache.reach(version, limit);
  } catch {
    signal.throwIfAborted();
    throw new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${version}, current: ${cache.version}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
  }
};

/** Reads a page as the Kubernetes table of resourceVersion, resourceVersionMatch, limit and continue says. */
export const readPage = async (store: Store, options: ListOptions, signal: AbortSignal): Promise<Page> => {
  requireComplete(store);
  const { cache } = store;
  const { resourceVersion, resourceVersionMatch, limit, continue: token } = options;
  if (token) return continued(store, options, signal);
  if (resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0 && resourceVersion !== '' && resourceVersion !== '0')) {
    return exact(store, options, Number(resourceVersion), undefined, signal);
  }
  if (resourceVersion === '') {
    if (!(await freshen(store, signal))) return fromHost(store, options, signal);
  } else if (resourceVersion !== '0') {
    await reachVersion(store, Number(resourceVersion), signal);
  }
  const { namespace } = options;
  const entries = namespace ? cache.list(namespace) : cache.list();
  return page(entries, cache.version, { ...options, limit: resourceVersion === '0' ? 0 : limit });
};

const continued = (store: Store, options: ListOptions, signal: AbortSignal): Promise<Page> | Page => {
  if (options.resourceVersion && options.resourceVersion !== '0') throw StatusError.badRequest('specifying resource version is not allowed when using continue');
  const { version, start } = decodeContinue(options.continue);
  if (version === -1) return fromHost(store, options, signal); // goes on at the newest version, whatever that is
  return exact(store, options.resourceVersion === '0' ? { ...options, limit: 0 } : options, version, start, signal);
};

const exact = (store: Store, options: ListOptions, version: number, start: string | undefined, signal: AbortSignal): Promise<Page> | Page => {
  const { namespace } = options;
  const key = start === undefined ? undefined : namespace ? `${namespace}/${start}` : start;
  const entries = store.cache.listAt(version, namespace || undefined, key);
  return entries ? page(entries, version, options) : fromHost(store, options, signal);
};

const page = (all: EntryRange, version: number, { namespace, limit, selects, labelSelector, fieldSelector }: ListOptions): Page => {
  if (!selects) {
    if (limit <= 0 || all.size <= limit) return { entries: all, version };
    const entries = all.first(limit);
    return { entries, version, continue: tokenAfter(entries.last!, namespace, version), remainingItemCount: all.size - limit };
  }
  // labels are few and asked for again; names would only drive them out
  if (limit <= 0 && fieldSelector === '') return { entries: all.selected(labelSelector, selects), version };
  const { range, more } = all.select(selects, limit > 0 ? limit : undefined);
  // what follows need not be selected: as the kube-apiserver, nobody looks that far ahead
  return { entries: range, version, ...(more && { continue: tokenAfter(range.last!, namespace, version) }) };
};

const tokenAfter = ({ key, namespace: of }: CacheEntry, namespace: string, version: number): string =>
  encodeContinue({ version, start: `${namespace ? key.slice(of.length) : `/${key}`}\0` });

const fromHost = async (store: Store, options: ListOptions, signal: AbortSignal): Promise<Page> => {
  const { namespace, labelSelector, fieldSelector, limit, continue: token, resourceVersion, resourceVersionMatch } = options;
  const { items, resourceVersion: version, ...rest } = await store.list({
    signal,
    ...(namespace && { namespace }),
    ...(labelSelector && { labelSelector }),
    ...(fieldSelector && { fieldSelector }),
    ...(limit > 0 && { limit }),
    ...(token && { continue: token }),
    ...(resourceVersion && { resourceVersion }),
    ...(resourceVersionMatch && { resourceVersionMatch }),
  });
  return { ...rest, entries: EntryRange.of(items.map((item) => new CacheEntry(item))), version: Number(version) };
};
