import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeList, KubeObject, Status } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeStream } from './client.ts';
import { StatusError, hasCode } from './status-error.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Who keeps what a reflector sees. Calls come in the order of resource versions; none may throw for a single bad object. */
export interface ReflectorHandler<T extends KubeObject = KubeObject> {
  /** The whole collection as of `resourceVersion`; what was seen before is void. */
  replace(items: T[], resourceVersion: string): void;
  event(type: EventType, object: T): void;
  /** Nothing up to `resourceVersion` is missing. */
  bookmark?(resourceVersion: string): void;
  /** The watch was lost and could not be resumed: a replace follows. Or, with `resumable`, it goes on where it was. */
  interrupted?(error: unknown, resumable: boolean): void;
}

export interface ReflectorOptions {
  client: KubeClient;
  /** Collection path, as in `/api/v1/namespaces`. */
  path: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Only apiVersion, kind and metadata are asked for. */
  metadataOnly?: boolean;
  /** Items a page while listing. */
  pageSize?: number;
  onError?: (error: unknown) => void;
}

const metadataAccept = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`;
const firstDelayMs = 100;
const maxDelayMs = 5_000;

/** Keeps a handler up to date with a collection: list, then watch, resumed or begun anew as needed, until stopped. */
export class Reflector<T extends KubeObject = KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #handler: ReflectorHandler<T>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #version: string | undefined;

  constructor(options: ReflectorOptions, handler: ReflectorHandler<T>) {
    this.#options = options;
    this.#handler = handler;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list();
        await this.#watch(() => (failures = 0));
        failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const expired = hasCode(error, 410);
        if (expired) this.#version = undefined;
        this.#handler.interrupted?.(error, !expired && this.#version !== undefined);
        if (!expired) this.#options.onError?.(error);
        const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** failures) * (0.75 + Math.random() / 2);
        failures = expired && failures === 0 ? 1 : failures + 1; // a first 410 is normal and is answered at once
        if (!(expired && failures === 1)) await sleep(delay, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #list(): Promise<void> {
    const { client, path, labelSelector, fieldSelector, metadataOnly, pageSize = 1000 } = this.#options;
    const items: T[] = [];
    let token: string | undefined;
    let resourceVersion = '';
    do {
      // Where only metadata is asked for, an empty list comes with `items: null`.
      const page = await client.json<Omit<KubeList<T>, 'items'> & { items: T[] | null }>({
        path,
        query: { labelSelector, fieldSelector, limit: pageSize, continue: token },
        headers: metadataOnly ? { accept: metadataAccept('PartialObjectMetadataList') } : undefined,
        signal: this.#stop.signal,
      });
      // List items carry no type of their own, and a list of metadata with none in it has null.
      const type = { apiVersion: page.apiVersion, kind: page.kind.replace(/List$/, '') };
      for (const item of page.items ?? []) items.push(item.kind ? item : { ...type, ...item });
      token = page.metadata.continue || undefined;
      resourceVersion = page.metadata.resourceVersion ?? '';
    } while (token);
    this.#handler.replace(items, resourceVersion);
    this.#version = resourceVersion;
  }

  async #watch(progressed: () => void): Promise<void> {
    const { client, path, labelSelector, fieldSelector, metadataOnly } = this.#options;
    const stream: KubeStream = await client.stream({
      path,
      query: {
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: this.#version,
        timeoutSeconds: 300 + Math.floor(Math.random() * 300),
        labelSelector,
        fieldSelector,
      },
      headers: metadataOnly ? { accept: metadataAccept('PartialObjectMetadata') } : undefined,
      signal: this.#stop.signal,
    });
    try {
      for await (const line of stream.lines) {
        this.#deliver(JSON.parse(line.toString('utf8')) as { type: EventType | 'BOOKMARK' | 'ERROR'; object: T });
        progressed();
      }
    } finally {
      stream.close();
    }
  }

  #deliver({ type, object }: { type: EventType | 'BOOKMARK' | 'ERROR'; object: T }): void {
    if (type === 'ERROR') throw StatusError.of(object as unknown as Status);
    const resourceVersion = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') this.#handler.bookmark?.(resourceVersion ?? '');
    else this.#handler.event(type, object);
    this.#version = resourceVersion;
  }
}
