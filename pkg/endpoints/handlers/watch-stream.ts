import { StatusError } from '../../kube/status-error.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import { defaultHistory, type CacheEvent, type CacheListener, type WatchCache } from '../../storage/watch-cache.ts';
import type { EventSink, SinkOwner } from './event-sink.ts';
import { selectedEvent, type EventEncoder } from './watch-events.ts';

/** Bytes that wait for a reader before its watch stops to write, and reads on from the cache once they are gone. */
const highWaterBytes = 1024 * 1024;
/** So many events pass a reader that takes nothing before its watch is ended, as the kube-apiserver ends a slow one. One that takes some is told for as long as the history reaches back to it. */
const maxEventsUntaken = defaultHistory / 4;
/** How long a reader gets for what was written before the end. */
const closingMs = 10_000;

export interface WatchStreamOptions {
  cache: WatchCache;
  encoder: EventEncoder;
  /** Empty for all namespaces. */
  namespace: string;
  selects: ((entry: CacheEntry) => boolean) | undefined;
  /** Events up to this version are not told. */
  after: number;
  /** Told before any event: the state as of `after`, and whether a bookmark marks its end. */
  initial?: { entries: Iterable<CacheEntry>; markEnd: boolean };
}

/**
 * Tells one watch's reader what happens, at the pace of the reader. One that lags costs no more than what waits in its sink:
 * what comes next is read from the cache's history when the reader is ready for it.
 */
export class WatchStream implements CacheListener, SinkOwner {
  readonly #options: WatchStreamOptions;
  readonly #onEnd: () => void;
  #sink!: EventSink;
  #initial: Iterator<CacheEntry> | undefined;
  /** Version up to which the reader was told all. */
  #told: number;
  /** Whether the sink is full, and events of the cache are left for later; how many came since the reader last took all. */
  #lags = false;
  #untaken = 0;
  #ended = false;
  #unlisten: () => void = () => undefined;
  #closing: NodeJS.Timeout | undefined;

  /** `onEnd` is told once, when nothing more is going to be written. */
  constructor(options: WatchStreamOptions, onEnd: () => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#told = options.after;
    this.#initial = options.initial?.entries[Symbol.iterator]();
  }

  /** Begins to tell; `open` may call back at once. */
  begin(open: (owner: SinkOwner) => EventSink): void {
    this.#sink = open(this);
    if (this.#ended) return;
    this.#unlisten = this.#options.cache.listen(this);
    this.#catchUp();
  }

  /** Says instead of events why there are none. */
  refuse(open: (owner: SinkOwner) => EventSink, { status }: StatusError): void {
    this.#sink = open(this);
    if (this.#ended) return;
    this.#sink.write(this.#options.encoder.error(status));
    this.close();
  }

  event(event: CacheEvent): void {
    if (!this.#lags) return this.#tell(event);
    this.#untaken += 1;
    if (this.#untaken > maxEventsUntaken) this.close();
  }

  /** The cache began anew, or the server stops. */
  closed(): void {
    this.close();
  }

  drained(): void {
    if (this.#ended || !this.#lags) return;
    this.#lags = false;
    this.#untaken = 0;
    this.#catchUp();
  }

  /** The reader is gone. */
  gone(): void {
    clearTimeout(this.#closing);
    this.#end();
  }

  /** To a reader that lags there is nothing to confirm. */
  bookmark(): void {
    if (!this.#ended && !this.#lags) this.#write(this.#options.encoder.bookmark(Math.max(this.#options.cache.version, this.#told), false));
  }

  /** Ends the stream in order. A reader that does not even take what was written is broken off. */
  close(): void {
    if (this.#ended) return;
    this.#end();
    this.#closing = setTimeout(() => this.#sink.destroy(), closingMs);
    this.#sink.end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unlisten();
    this.#initial = undefined;
    this.#onEnd();
  }

  /** Tells what was left for later, until the sink is full again. */
  #catchUp(): void {
    this.#tellInitial();
    if (this.#lags || this.#ended) return;
    let left: readonly CacheEvent[];
    try {
      left = this.#options.cache.eventsAfter(this.#told);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#write(this.#options.encoder.error(error.status));
      return this.close();
    }
    for (const event of left) {
      if (this.#lags) return;
      this.#tell(event);
    }
  }

  #tellInitial(): void {
    const { encoder, selects, after, initial } = this.#options;
    while (this.#initial && !this.#lags) {
      const { value, done } = this.#initial.next();
      if (!done) {
        if (!selects || selects(value)) this.#write(encoder.event('ADDED', value));
        continue;
      }
      this.#initial = undefined;
      if (initial?.markEnd) this.#write(encoder.bookmark(after, true));
    }
  }

  #tell(event: CacheEvent): void {
    const { version, namespace } = event.entry;
    if (version <= this.#told) return;
    this.#told = version;
    const { namespace: watched, selects, encoder } = this.#options;
    if (watched !== '' && namespace !== watched) return;
    const seen = selectedEvent(event, selects);
    if (seen) this.#write(encoder.event(seen.type, seen.entry));
  }

  #write(bytes: Buffer): void {
    this.#sink.write(bytes);
    this.#lags = this.#sink.waiting > highWaterBytes;
  }
}
