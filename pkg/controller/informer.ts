import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { Reflector, type EventType, type ReflectorHandler, type ReflectorOptions } from '../kube/reflector.ts';
import { hasCode } from '../kube/status-error.ts';
import type { Store } from '../storage/store.ts';

/** What feeds an informer: begins with a replace, then events. Returns how to end it. */
export type InformerSource = (handler: ReflectorHandler) => () => Promise<void>;

export interface InformerHandlers<T extends KubeObject = KubeObject> {
  onAdd?(object: T): void;
  onUpdate?(old: T, object: T): void;
  onDelete?(old: T): void;
  /** The resource came (its CRD was installed) or went. */
  onAvailability?(missing: boolean): void;
}

/** Handlers that concern what comes, what goes, and both what was and what is where `matter` of the two differs. */
export const onChange = <T extends KubeObject>(concern: (object: T) => void, matter: (object: T) => unknown = (object) => object): Required<Pick<InformerHandlers<T>, 'onAdd' | 'onUpdate' | 'onDelete'>> => ({
  onAdd: concern,
  onDelete: concern,
  onUpdate: (old, object) => {
    if (isDeepStrictEqual(matter(old), matter(object))) return;
    concern(old);
    concern(object);
  },
});

export type Indexer<T extends KubeObject> = (object: T) => readonly string[];

export interface InformerOptions<T extends KubeObject> {
  indexes?: Record<string, Indexer<T>>;
  /** What is kept of an object; all of it where absent. */
  keep?: (object: T) => T;
}

/** `namespace/name`, or the bare name of a cluster-scoped object. */
export const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => (namespace ? `${namespace}/${name}` : (name ?? ''));

/** The way back from keyOf. */
export const splitKey = (key: string): { namespace: string; name: string } => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
};

/** A collection of the kube-apiserver. */
export const fromReflector = (options: ReflectorOptions): InformerSource => (handler) => {
  let reflector: Reflector;
  let stopped = false;
  // A resource that is not installed is a state, told by the informer, not an error every few seconds.
  const onError = (error: unknown): void => void (hasCode(error, 404) || options.onError?.(error));
  const begin = (): void => {
    reflector = new Reflector({ ...options, onError }, {
      replace: (items, version) => handler.replace(items, version),
      event: (type, object) => handler.event(type, object),
      bookmark: (version) => handler.bookmark?.(version),
      interrupted: (error, resumable) => {
        handler.interrupted?.(error, resumable);
        // The resource itself is gone: its versions mean nothing to the one that may come, so begin with a list.
        if (hasCode(error, 404) && resumable && !stopped) {
          void reflector.stop();
          begin();
        }
      },
    });
    reflector.start();
  };
  begin();
  return () => {
    stopped = true;
    return reflector.stop();
  };
};

/** A virtual collection, from the watch cache of this very process. */
export const fromStore = (store: Pick<Store, 'observe'>): InformerSource => (handler) => {
  const end = store.observe(handler);
  return () => Promise.resolve(end());
};

/** More than come between a write and its answer. */
const endsRemembered = 1000;

/** Versions of one object are numbers that grow. */
const isNewer = (version = '', than = ''): boolean => version.length > than.length || (version.length === than.length && version > than);

/** An indexed copy of a collection, kept up to date; whoever subscribes is told what changed. Objects are shared: never change one. */
export class Informer<T extends KubeObject = KubeObject> {
  /** Resolves once the first list is in. */
  readonly synced: Promise<void>;
  /** Resolves once the first list is in or the resource is known to be missing. */
  readonly settled: Promise<void>;
  readonly #source: InformerSource;
  readonly #options: InformerOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #subscribers = new Set<InformerHandlers<T>>();
  readonly #markSynced: () => void;
  readonly #markSettled: () => void;
  /** Uids of what the watch has seen end last. */
  readonly #ended = new Set<string>();
  #missing = false;
  #end: (() => Promise<void>) | undefined;

  constructor(source: InformerSource, options: InformerOptions<T> = {}) {
    this.#source = source;
    this.#options = options;
    for (const name of Object.keys(options.indexes ?? {})) this.#indexes.set(name, new Map());
    const synced = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    [this.synced, this.#markSynced] = [synced.promise, synced.resolve];
    [this.settled, this.#markSettled] = [settled.promise, settled.resolve];
  }

  /** Whether the kube-apiserver does not know the resource. */
  get missing(): boolean {
    return this.#missing;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  byIndex(index: string, value: string): T[] {
    const keys = this.#indexes.get(index)?.get(value) ?? [];
    return Array.from(keys, (key) => this.#objects.get(key)!);
  }

  /** What is there already is told as added. Returns how to unsubscribe. */
  subscribe(handlers: InformerHandlers<T>): () => void {
    this.#subscribers.add(handlers);
    for (const object of this.#objects.values()) handlers.onAdd?.(object);
    return () => void this.#subscribers.delete(handlers);
  }

  /**
   * What a write has just answered, so that nobody decides by what was before it while the watch is under way. What the watch
   * knows better, a newer version or the object's end, is left as it is.
   */
  learn(written: T): void {
    const { uid, resourceVersion } = written.metadata;
    const held = this.#objects.get(keyOf(written));
    if (this.#ended.has(uid!) || (held && (held.metadata.uid !== uid || !isNewer(resourceVersion, held.metadata.resourceVersion)))) return;
    this.#put(written);
  }

  start(): void {
    this.#end ??= this.#source({
      replace: (items) => this.#replace(items as T[]),
      event: (type, object) => this.#event(type, object as T),
      bookmark: () => this.#setMissing(false),
      interrupted: (error) => this.#interrupted(error),
    });
  }

  async stop(): Promise<void> {
    await this.#end?.();
  }

  #replace(items: T[]): void {
    this.#setMissing(false);
    const keys = new Set(items.map(keyOf));
    for (const key of this.#objects.keys()) if (!keys.has(key)) this.#remove(key);
    for (const item of items) this.#put(item);
    this.#markSynced();
    this.#markSettled();
  }

  #event(type: EventType, object: T): void {
    this.#setMissing(false);
    if (type === 'DELETED') {
      this.#remember(object.metadata.uid!);
      this.#remove(keyOf(object));
      return;
    }
    const held = this.#objects.get(keyOf(object));
    // What was learnt from a write may be ahead of the watch.
    if (held?.metadata.uid !== object.metadata.uid || !isNewer(held?.metadata.resourceVersion, object.metadata.resourceVersion)) this.#put(object);
  }

  #remember(uid: string): void {
    this.#ended.add(uid);
    if (this.#ended.size > endsRemembered) this.#ended.delete(this.#ended.values().next().value!);
  }

  #interrupted(error: unknown): void {
    if (!hasCode(error, 404)) return;
    for (const key of this.#objects.keys()) this.#remove(key);
    this.#setMissing(true);
    this.#markSettled();
  }

  #setMissing(missing: boolean): void {
    if (missing === this.#missing) return;
    this.#missing = missing;
    for (const subscriber of this.#subscribers) subscriber.onAvailability?.(missing);
  }

  #put(received: T): void {
    const key = keyOf(received);
    let old = this.#objects.get(key);
    if (old && old.metadata.uid !== received.metadata.uid) {
      this.#remove(key); // another object of the same name: the first one's end was not seen
      old = undefined;
    }
    if (old && old.metadata.resourceVersion === received.metadata.resourceVersion) return;
    const object = this.#options.keep?.(received) ?? received;
    if (old) this.#unindex(key, old);
    this.#objects.set(key, object);
    this.#index(key, object);
    for (const subscriber of this.#subscribers) {
      if (old) subscriber.onUpdate?.(old, object);
      else subscriber.onAdd?.(object);
    }
  }

  #remove(key: string): void {
    const old = this.#objects.get(key);
    if (!old) return;
    this.#objects.delete(key);
    this.#unindex(key, old);
    for (const subscriber of this.#subscribers) subscriber.onDelete?.(old);
  }

  #index(key: string, object: T): void {
    for (const [name, index] of this.#indexes) {
      for (const value of this.#options.indexes![name]!(object)) {
        const keys = index.get(value);
        if (keys) keys.add(key);
        else index.set(value, new Set([key]));
      }
    }
  }

  #unindex(key: string, object: T): void {
    for (const [name, index] of this.#indexes) {
      for (const value of this.#options.indexes![name]!(object)) {
        const keys = index.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(value);
      }
    }
  }
}
