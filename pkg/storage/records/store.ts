import type { DeleteOptions, KubeList, KubeObject, Status } from '../../../api/meta/v1/types.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../api/resource.ts';
import { statusOf, type KubeClient, type KubeRequest } from '../../kube/client.ts';
import { Reflector, type ReflectorHandler } from '../../kube/reflector.ts';
import { StatusError } from '../../kube/status-error.ts';
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
    if (namespace === this.#namespace && name === fenceName) {
      throw StatusError.notFound({ group: this.definition.group, resource: this.definition.plural }, name);
    }
    return this.#object({ path: this.#path(namespace, name), signal });
  }

  async list(options: HostListOptions): Promise<HostPage> {
    const { namespace, signal, ...query } = options;
    const page = await this.#json<KubeList>({ path: resourcePath(this.#record, namespace), query, signal });
    const type = { apiVersion: apiVersionOf(this.#record), kind: this.#record.kind };
    const { resourceVersion = '', continue: token, remainingItemCount } = page.metadata;
    return {
      items: page.items.filter((item) => !this.#isFence(item)).map((item) => this.#codec.toVirtual({ ...type, ...item })),
      resourceVersion,
      ...(token && { continue: token }),
      ...(remainingItemCount !== undefined && { remainingItemCount }),
    };
  }

  create(object: KubeObject, { dryRun, fieldManager, signal }: WriteOptions): Promise<KubeObject> {
    return this.#object({
      method: 'POST',
      path: this.#path(object.metadata.namespace!),
      query: { ...dryRunQuery(dryRun), fieldManager },
      body: this.#codec.toRecord(object),
      signal,
    });
  }

  update(object: KubeObject, { dryRun, fieldManager, signal }: WriteOptions, subresource: Subresource = ''): Promise<KubeObject> {
    return this.#object({
      method: 'PUT',
      path: this.#path(object.metadata.namespace!, object.metadata.name!, subresource),
      query: { ...dryRunQuery(dryRun), fieldManager },
      body: this.#codec.toRecord(object),
      signal,
    });
  }

  async apply(
    object: KubeObject,
    { dryRun, fieldManager, force, signal }: ApplyOptions,
    subresource: Subresource = '',
  ): Promise<{ object: KubeObject; created: boolean }> {
    const response = await this.#client.request({
      method: 'PATCH',
      path: this.#path(object.metadata.namespace!, object.metadata.name!, subresource),
      query: { ...dryRunQuery(dryRun), fieldManager, ...(force && { force: true }) },
      contentType: 'application/apply-patch+yaml',
      body: this.#codec.toRecord(object),
      signal,
    });
    if (response.status >= 400) throw this.#codec.toVirtualError(statusOf(response.status, response.body));
    const record = JSON.parse(response.body.toString('utf8')) as KubeObject;
    return { object: this.#codec.toVirtual(record), created: response.status === 201 };
  }

  async delete(namespace: string, name: string, options: DeleteOptions, signal?: AbortSignal): Promise<DeleteResult> {
    const response = await this.#client.request({
      method: 'DELETE',
      path: this.#path(namespace, name),
      body: { ...options, apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' },
      signal,
    });
    if (response.status >= 400) throw this.#codec.toVirtualError(statusOf(response.status, response.body));
    const body = JSON.parse(response.body.toString('utf8')) as KubeObject | Status;
    const translated = body.kind === 'Status' ? this.#codec.toVirtualStatus(body as Status) : this.#codec.toVirtual(body as KubeObject);
    return { code: response.status, body: translated };
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

const dryRunQuery = (dryRun: boolean | undefined): { dryRun?: string } => (dryRun ? { dryRun: 'All' } : {});
