import type { DeleteOptions, KubeList, KubeObject, Status } from '../../../api/meta/v1/types.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../api/resource.ts';
import { statusOf, warningsOf, type KubeClient, type KubeRequest } from '../../kube/client.ts';
import { Reflector, type ReflectorHandler } from '../../kube/reflector.ts';
import { StatusError } from '../../kube/status-error.ts';
import { keyOf } from '../cache-entry.ts';
import { Fence } from '../fence.ts';
import { resourcePath, type ResourceNames } from '../names.ts';
import { observeCache } from '../observe.ts';
import type { ApplyOptions, DeleteResult, HostListOptions, HostPage, Store, Subresource, WriteOptions } from '../store.ts';
import { WatchCache } from '../watch-cache.ts';
import { recordCodec, type RecordCodec } from './codec.ts';
import { fenceName, fenceWriter } from './fence-object.ts';

export interface RecordStoreOptions {
  client: KubeClient;
  definition: ResourceDefinition;
  record: ResourceNames;
  /** The server's own namespace, where the fence lives. */
  namespace: string;
  /** A spec that the record's schema takes, for the fence. */
  fenceSpec: unknown;
  /** Unique among replicas. */
  identity: string;
  onError: (error: unknown) => void;
}

/** Keeps each virtual object as a custom resource of the same namespace and name. */
export class RecordStore implements Store {
  readonly definition: ResourceDefinition;
  readonly cache = new WatchCache();
  readonly fence: Fence;
  readonly #client: KubeClient;
  readonly #record: ResourceNames;
  readonly #codec: RecordCodec;
  readonly #namespace: string;
  readonly #reflector: Reflector;

  constructor(options: RecordStoreOptions) {
    this.definition = options.definition;
    this.#client = options.client;
    this.#record = options.record;
    this.#namespace = options.namespace;
    this.#codec = recordCodec(options.definition, options.record);
    this.fence = new Fence(fenceWriter({ ...options, spec: options.fenceSpec }));
    this.#reflector = new Reflector(
      { client: options.client, path: resourcePath(options.record), onError: options.onError },
      this.#intoCache(),
    );
  }

  start(): void {
    this.#reflector.start();
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
    this.cache.close();
  }

  observe(handler: ReflectorHandler): () => void {
    return observeCache(this.cache, handler);
  }

  get(namespace: string, name: string, signal?: AbortSignal): Promise<KubeObject> {
    this.#hideFence(namespace, name);
    return this.#object({ path: this.#path(namespace, name), signal });
  }

  async list(options: HostListOptions): Promise<HostPage> {
    const { namespace, signal, ...query } = options;
    const page = await this.#json<KubeList>({ path: resourcePath(this.#record, namespace), query, signal });
    const type = { apiVersion: apiVersionOf(this.#record), kind: this.#record.kind };
    const { resourceVersion = '', continue: token, remainingItemCount } = page.metadata;
    const items = page.items.filter((item) => !this.#isFence(item)).map((item) => this.#codec.toVirtual({ ...type, ...item }));
    const last = page.items.at(-1)?.metadata;
    const fenceFollows = last !== undefined && (namespace ?? this.#namespace) === this.#namespace && keyOf(last.namespace!, last.name!) < this.#fenceKey;
    return {
      items,
      resourceVersion,
      ...(token && { continue: token }),
      ...(remainingItemCount !== undefined && { remainingItemCount: remainingItemCount - (fenceFollows ? 1 : 0) }),
    };
  }

  create(object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#write('POST', this.#path(object.metadata.namespace!), object, options).then(({ body }) => this.#codec.toVirtual(body));
  }

  update(object: KubeObject, options: WriteOptions, subresource: Subresource = ''): Promise<KubeObject> {
    return this.#write('PUT', this.#pathOf(object, subresource), object, options).then(({ body }) => this.#codec.toVirtual(body));
  }

  async apply(object: KubeObject, options: ApplyOptions, subresource: Subresource = ''): Promise<{ object: KubeObject; created: boolean }> {
    const { namespace = object.metadata.namespace! } = options;
    const { code, body } = await this.#write('PATCH', this.#path(namespace, object.metadata.name, subresource), object, options);
    return { object: this.#codec.toVirtual(body), created: code === 201 };
  }

  async delete(namespace: string, name: string, options: DeleteOptions, { signal, warn }: Pick<WriteOptions, 'signal' | 'warn'> = {}): Promise<DeleteResult> {
    this.#hideFence(namespace, name);
    const request = { method: 'DELETE', path: this.#path(namespace, name), body: { ...options, apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' }, signal } as const;
    const { code, body } = await this.#answered<KubeObject | Status>(request, warn);
    return { code, body: body.kind === 'Status' ? this.#codec.toVirtualStatus(body as Status) : this.#codec.toVirtual(body as KubeObject) };
  }

  #write(method: 'POST' | 'PUT' | 'PATCH', path: string, object: KubeObject, options: WriteOptions & { force?: boolean }): Promise<{ code: number; body: KubeObject }> {
    const { dryRun, fieldManager, force, signal, warn } = options;
    return this.#answered<KubeObject>(
      {
        method,
        path,
        query: { ...(dryRun && { dryRun: 'All' }), fieldManager, ...(force && { force }) },
        contentType: method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
        body: this.#codec.toRecord(object),
        signal,
      },
      warn,
    );
  }

  /** Sends a write, and hands on what the host warns of, whatever becomes of it. */
  async #answered<T>(request: KubeRequest, warn: WriteOptions['warn']): Promise<{ code: number; body: T }> {
    const { status, headers, body } = await this.#client.request(request);
    if (warn) for (const text of warningsOf(headers)) warn(this.#codec.toVirtualText(text));
    if (status >= 400) throw this.#codec.toVirtualError(statusOf(status, body));
    return { code: status, body: JSON.parse(body.toString('utf8')) as T };
  }

  #pathOf({ metadata: { namespace, name } }: KubeObject, subresource: Subresource): string {
    return this.#path(namespace!, name, subresource);
  }

  #path(namespace: string, name?: string, subresource?: Subresource): string {
    return resourcePath(this.#record, namespace, name, subresource);
  }

  async #object(request: KubeRequest): Promise<KubeObject> {
    return this.#codec.toVirtual(await this.#json<KubeObject>(request));
  }

  async #json<T>(request: KubeRequest): Promise<T> {
    try {
      return await this.#client.json<T>(request);
    } catch (error) {
      throw this.#codec.toVirtualError(error);
    }
  }

  /** @throws StatusError 404: to clients there is no fence */
  #hideFence(namespace: string, name: string): void {
    if (keyOf(namespace, name) !== this.#fenceKey) return;
    throw StatusError.notFound({ group: this.definition.group, resource: this.definition.plural }, name);
  }

  get #fenceKey(): string {
    return keyOf(this.#namespace, fenceName);
  }

  #isFence({ metadata }: KubeObject): boolean {
    return metadata.namespace === this.#namespace && metadata.name === fenceName;
  }

  /** Records as they come, translated; a fence moves the version and is seen by nobody. */
  #intoCache(): ReflectorHandler {
    return {
      replace: (items, version) => this.cache.replace(items.filter((item) => !this.#isFence(item)).map(this.#codec.toVirtual), version),
      event: (type, record) => {
        if (this.#isFence(record)) this.cache.bookmark(record.metadata.resourceVersion!);
        else this.cache.event(type, this.#codec.toVirtual(record));
      },
      bookmark: (version) => this.cache.bookmark(version),
    };
  }
}
