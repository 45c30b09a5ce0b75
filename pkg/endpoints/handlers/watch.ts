import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import { negotiate, watchOffer } from '../negotiation.ts';
import { sinkFor, webSocketFault, type OpenSink } from './event-sink.ts';
import { parseListOptions, type ListOptions } from './list-options.ts';
import { freshen } from '../../storage/freshen.ts';
import { reachVersion, requireComplete } from './read.ts';
import { includeObjectOf, queryOf, requestSignal, type RequestScope, type VerbHandler } from './scope.ts';
import { eventEncoder, type EventEncoder } from './watch-events.ts';
import { WatchStream } from './watch-stream.ts';

/** A watch without a time limit ends after 30 to 60 minutes, so that load spreads over replicas. */
const minTimeoutSeconds = 1800;
const bookmarkIntervalMs = 60_000;
/** A last bookmark comes this long before the time limit, so that the next watch has little to catch up with. */
const lastBookmarkMs = 2_000;
/** Nobody else can answer in our place: a watch is worth waiting for where a list is passed to the host. */
const freshnessTimeoutMs = 10_000;

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
  stream(scope, options, encoder, refusal, await sinkFor(request, response, format.mediaType));
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
const stream = ({ store: { cache } }: RequestScope, options: ListOptions, encoder: EventEncoder, refusal: StatusError | undefined, open: OpenSink): void => {
  const { namespace, selects, resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  const initial = sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0');
  const after = initial || resourceVersion === '' ? cache.version : Number(resourceVersion);
  const told = new WatchStream(
    {
      cache, encoder, namespace, selects, after,
      ...(initial && { initial: { entries: cache.list(namespace || undefined), markEnd: sendInitialEvents === true && allowWatchBookmarks } }),
    },
    () => {
      clearTimeout(timeLimit);
      clearTimeout(lastBookmark);
      clearInterval(bookmarks);
    },
  );
  const limitMs = (options.timeoutSeconds || minTimeoutSeconds * (1 + Math.random())) * 1000;
  const timeLimit = setTimeout(() => told.close(), limitMs);
  const bookmark = (): void => told.bookmark();
  const lastBookmark = allowWatchBookmarks && limitMs > lastBookmarkMs ? setTimeout(bookmark, limitMs - lastBookmarkMs) : undefined;
  const bookmarks = allowWatchBookmarks ? setInterval(bookmark, bookmarkIntervalMs) : undefined;
  if (refusal) told.refuse(open, refusal);
  else told.begin(open);
};
