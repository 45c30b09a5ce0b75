import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { EventType, ReflectorHandler } from '../kube/reflector.ts';
import { StatusError } from '../kube/status-error.ts';
import { CacheEntry, keyOf } from './cache-entry.ts';
import type { EntryRange } from './leaf.ts';
import { OrderedEntries } from './ordered-entries.ts';

export interface CacheEvent {
  type: EventType;
  entry: CacheEntry;
  /** The version before, for selectors that stop or begin to match. */
  previous?: CacheEntry;
}

/** Whoever follows the cache. Neither call may throw. */
export interface CacheListener {
  event(event: CacheEvent): void;
  /** Nothing up to `version` is missing. */
  progress?(version: number): void;
  /** No more events come: the cache began anew, or the server stops. */
  closed(): void;
}

/** How many events are kept at the least, for watches that resume or lag and for lists at older versions. */
export const defaultHistory = 8192;

/**
 * All objects of one kind as of one version, and the way they came there. Fed by a backend in the order of versions.
 * A relist ends every watch and forgets the history: an event is never made up.
 */
export class WatchCache implements ReflectorHandler {
  readonly #historySize: number;
  #entries = new OrderedEntries();
  #history: CacheEvent[] = [];
  #version = 0;
  /** Watches and lists can begin at this version or later. */
  #oldest = 0;
  #complete = false;
  readonly #listeners = new Set<CacheListener>();
  #waiting: { version: number; resolve: () => void }[] = [];

  constructor(historySize = defaultHistory) {
    this.#historySize = historySize;
  }

  /** Whether the cache holds the whole collection; until then readers are to be sent away. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Version up to which nothing is missing. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#entries.size;
  }

  replace(items: KubeObject[], resourceVersion: string): void {
    this.#entries = new OrderedEntries(items.map((item) => new CacheEntry(item)));
    this.#history = [];
    this.#oldest = Number(resourceVersion);
    this.#version = this.#oldest; // also backwards, where etcd was restored from a backup
    this.#complete = true;
    this.#endWatches();
    this.#advance(this.#oldest);
  }

  event(type: EventType, object: KubeObject): void {
    const entry = new CacheEntry(object);
    const previous = this.#entries.get(entry.key);
    if (type === 'DELETED') this.#entries.delete(entry.key);
    else this.#entries.set(entry);
    const event: CacheEvent = { type, entry, ...(previous && { previous }) };
    this.#remember(event);
    for (const listener of this.#listeners) listener.event(event);
    this.#advance(entry.version);
  }

  bookmark(resourceVersion: string): void {
    this.#advance(Number(resourceVersion));
    for (const listener of this.#listeners) listener.progress?.(this.#version);
  }

  get(namespace: string, name: string): CacheEntry | undefined {
    return this.#entries.get(keyOf(namespace, name));
  }

  /** Entries as of the current version, in order of keys; of one namespace, or all. */
  list(namespace?: string, start?: string): EntryRange {
    return this.#entries.range(namespace, start);
  }

  /** Entries as of an earlier version, or undefined where the history does not reach back that far. */
  listAt(version: number, namespace?: string, start?: string): EntryRange | undefined {
    if (version === this.#version) return this.list(namespace, start);
    if (version < this.#oldest || version > this.#version) return undefined;
    const entries = this.#entries.copy();
    for (let index = this.#history.length - 1; index >= 0; index -= 1) {
      const { entry, previous } = this.#history[index]!;
      if (entry.version <= version) break;
      if (previous) entries.set(previous);
      else entries.delete(entry.key);
    }
    return entries.range(namespace, start);
  }

  /** Resolves once the cache has reached a version; rejects with the signal's reason. */
  reach(version: number, signal: AbortSignal): Promise<void> {
    if (this.#complete && this.#version >= version) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter = { version, resolve: () => (signal.removeEventListener('abort', abort), resolve()) };
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(signal.reason as Error);
      };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Tells a listener each event as it comes, until the function that is returned is called. */
  listen(listener: CacheListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The events after a version, up to now.
   * @throws StatusError 410 where the history does not reach back that far
   */
  eventsAfter(version: number): readonly CacheEvent[] {
    if (version < this.#oldest) throw StatusError.expired(`too old resource version: ${version} (${this.#oldest})`);
    let from = 0;
    for (let to = this.#history.length; from < to; ) {
      const middle = (from + to) >> 1;
      if (this.#history[middle]!.entry.version > version) to = middle;
      else from = middle + 1;
    }
    return this.#history.slice(from);
  }

  /** Ends every watch, when the server stops. */
  close(): void {
    this.#endWatches();
  }

  #remember(event: CacheEvent): void {
    this.#history.push(event);
    if (this.#history.length < this.#historySize * 1.25) return;
    const dropped = this.#history.splice(0, this.#history.length - this.#historySize);
    this.#oldest = dropped.at(-1)!.entry.version;
  }

  #advance(version: number): void {
    if (version > this.#version) this.#version = version;
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiter) => waiter.version <= this.#version);
    this.#waiting = this.#waiting.filter((waiter) => waiter.version > this.#version);
    for (const waiter of reached) waiter.resolve();
  }

  #endWatches(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.closed();
  }
}
