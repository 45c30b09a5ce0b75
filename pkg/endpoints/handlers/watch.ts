import type { Response } from 'express';
import { StatusError } from '../../kube/status-error.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import type { CacheEvent } from '../../storage/watch-cache.ts';
import { contextOf } from '../context.ts';
import { negotiate, watchOffer } from '../negotiation.ts';
import { writeHead } from '../respond.ts';
import { parseListOptions, type ListOptions } from './list-options.ts';
import { freshen, reachVersion, requireComplete } from './read.ts';
import { includeObjectOf, queryOf, requestSignal, type RequestScope, type VerbHandler } from './scope.ts';
import { errorLine, eventEncoder, selectedEvent, type EventEncoder } from './watch-events.ts';

/** A watch without a time limit ends after 30 to 60 minutes, so that load spreads over replicas. */
const minTimeoutSeconds = 1800;
const bookmarkIntervalMs = 60_000;
/** A last bookmark comes this long before the time limit, so that the next watch has little to catch up with. */
const lastBookmarkMs = 2_000;
/** Nobody else can answer in our place: a watch is worth waiting for where a list is passed to the host. */
const freshnessTimeoutMs = 10_000;
/** What may wait for a slow reader before it is cut off. */
const maxBufferedBytes = 8 * 1024 * 1024;

export const watch: VerbHandler = async (scope, request, response) => {
  const query = queryOf(request);
  const format = negotiate(request.headers.accept, query, request.headers['user-agent'], watchOffer);
  const options = parseListOptions(query, contextOf(response).requestInfo, scope.definition, true);
  const signal = requestSignal(response, 60_000);
  await reachStart(scope, options, signal);
  const encoder = eventEncoder(scope.definition, format.as, scope.columns, { now: scope.now, include: includeObjectOf(query) });
  stream(scope, response, options, encoder);
};

/** Waits until the cache is as new as the watch demands. */
const reachStart = async ({ store }: RequestScope, { resourceVersion, sendInitialEvents }: ListOptions, signal: AbortSignal): Promise<void> => {
  requireComplete(store);
  if (resourceVersion === '') {
    if (!(await freshen(store, signal, freshnessTimeoutMs))) throw StatusError.unavailable('the state of the cluster cannot be confirmed at the moment; try again');
  } else if (sendInitialEvents && resourceVersion !== '0') {
    await reachVersion(store, Number(resourceVersion), signal);
  }
};

/** Opens the response and follows the cache until the client, the time limit or the cache ends it. */
const stream = ({ store }: RequestScope, response: Response, options: ListOptions, encoder: EventEncoder): void => {
  const { cache } = store;
  const { namespace, selects, resourceVersion, sendInitialEvents } = options;
  const initial = sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0');
  const after = initial || resourceVersion === '' ? cache.version : Number(resourceVersion);

  let head = false;
  let ended = false;
  let unfollow = (): void => undefined;
  const write = (bytes: Buffer): void => {
    if (ended) return;
    if (!head) open();
    response.write(bytes);
    if (response.writableLength > maxBufferedBytes) {
      end();
      response.destroy(); // a reader that does not read: it resumes from the version it has, or lists anew
    }
  };
  const open = (): void => {
    head = true;
    writeHead(response, 200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    unfollow();
    clearTimeout(timeLimit);
    clearTimeout(lastBookmark);
    clearInterval(bookmarks);
  };
  const finish = (): void => {
    if (ended) return;
    end();
    if (!head) open();
    response.end();
  };
  const inNamespace = (entry: CacheEntry): boolean => namespace === '' || entry.namespace === namespace;
  const onEvent = (event: CacheEvent): void => {
    if (event.entry.version <= after || !inNamespace(event.entry)) return;
    const seen = selectedEvent(event, selects);
    if (seen) write(encoder.event(seen.type, seen.entry));
  };

  const bookmark = (): void => {
    if (options.allowWatchBookmarks) write(encoder.bookmark(Math.max(cache.version, after), false));
  };
  const limitMs = (options.timeoutSeconds || minTimeoutSeconds * (1 + Math.random())) * 1000;
  const timeLimit = setTimeout(finish, limitMs);
  const lastBookmark = limitMs > lastBookmarkMs ? setTimeout(bookmark, limitMs - lastBookmarkMs) : undefined;
  const bookmarks = setInterval(bookmark, bookmarkIntervalMs);
  response.once('close', end);
  if (initial) {
    for (const entry of cache.list(namespace || undefined)) if (!selects || selects(entry)) write(encoder.event('ADDED', entry));
    if (sendInitialEvents) write(encoder.bookmark(cache.version, true));
  }
  try {
    unfollow = cache.follow(after, { event: onEvent, closed: finish });
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    write(errorLine(error.status));
    finish();
    return;
  }
  if (ended) unfollow();
  else if (!head) {
    open();
    response.flushHeaders?.();
  }
};
