import { StatusError } from '../../kube/status-error.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import type { CacheEvent } from '../../storage/watch-cache.ts';
import { contextOf } from '../context.ts';
import { negotiate, watchOffer } from '../negotiation.ts';
import { openSink, webSocketFault, type EventSink } from './event-sink.ts';
import { parseListOptions, type ListOptions } from './list-options.ts';
import { freshen, reachVersion, requireComplete } from './read.ts';
import { includeObjectOf, queryOf, requestSignal, type RequestScope, type VerbHandler } from './scope.ts';
import { eventEncoder, selectedEvent, type EventEncoder } from './watch-events.ts';

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
  const include = includeObjectOf(query);
  const refusal = await reachStart(scope, options, signal);
  const fault = webSocketFault(request, response);
  if (fault) {
    response.removeHeader('cache-control');
    return void response.writeHead(fault).end();
  }
  const encoder = eventEncoder(scope.definition, format, scope.columns, { now: scope.now, include });
  stream(scope, options, encoder, refusal, (onClose) => openSink(request, response, format.mediaType, onClose));
};

/**
 * Waits until the cache is as new as the watch demands.
 * @returns what is to be said in the stream instead of events, where it does not get there
 */
const reachStart = async ({ store }: RequestScope, { resourceVersion, sendInitialEvents }: ListOptions, signal: AbortSignal): Promise<StatusError | undefined> => {
  requireComplete(store);
  if (resourceVersion === '') {
    if (!(await freshen(store, signal, freshnessTimeoutMs))) throw StatusError.unavailable('the state of the cluster cannot be confirmed at the moment; try again');
  } else if (sendInitialEvents && resourceVersion !== '0') {
    return reachVersion(store, Number(resourceVersion), signal).then(() => undefined, refusalOf);
  }
  return undefined;
};

const refusalOf = (error: unknown): StatusError => {
  if (error instanceof StatusError) return error;
  throw error;
};

/** Opens the response and follows the cache until the client, the time limit or the cache ends it. */
const stream = ({ store }: RequestScope, options: ListOptions, encoder: EventEncoder, refusal: StatusError | undefined, open: (onClose: () => void) => EventSink): void => {
  const { cache } = store;
  const { namespace, selects, resourceVersion, sendInitialEvents } = options;
  const initial = sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0');
  const after = initial || resourceVersion === '' ? cache.version : Number(resourceVersion);

  let ended = false;
  let unfollow = (): void => undefined;
  const write = (bytes: Buffer): void => {
    if (ended) return;
    sink.write(bytes);
    if (sink.waiting > maxBufferedBytes) {
      end();
      sink.destroy(); // a reader that does not read: it resumes from the version it has, or lists anew
    }
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
    sink.end();
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
  const sink = open(end);
  if (refusal) {
    write(encoder.error(refusal.status));
    finish();
    return;
  }
  if (initial) {
    for (const entry of cache.list(namespace || undefined)) if (!selects || selects(entry)) write(encoder.event('ADDED', entry));
    if (sendInitialEvents && options.allowWatchBookmarks) write(encoder.bookmark(cache.version, true));
  }
  try {
    unfollow = cache.follow(after, { event: onEvent, closed: finish });
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    write(encoder.error(error.status));
    finish();
    return;
  }
  if (ended) unfollow();
};
