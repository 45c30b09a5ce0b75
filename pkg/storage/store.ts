import type { DeleteOptions, KubeObject, Status } from '../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import type { ReflectorHandler } from '../kube/reflector.ts';
import type { Fence } from './fence.ts';
import type { WatchCache } from './watch-cache.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** Options of a write that travel to the backing object unchanged. */
export interface WriteOptions {
  dryRun?: boolean;
  fieldManager?: string;
  /** Cuts the write off with the client. */
  signal?: AbortSignal;
  /** Is told what the host warns of. */
  warn?: (text: string) => void;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean;
  /** Of the object, which need not name it. */
  namespace?: string;
}

export interface DeleteResult {
  /** 200, or 202 where the object waits for its finalizers. */
  code: number;
  /** The object as it stands, or a Status of success where it is gone. */
  body: KubeObject | Status;
}

/** A page that the host answered, translated. */
export interface HostPage {
  items: KubeObject[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface HostListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  signal?: AbortSignal;
}

export type Subresource = '' | 'status';

/**
 * Keeps the objects of one kind. Names and versions are the virtual object's; what lies behind is the backend's own
 * affair. Every error is a StatusError in the virtual object's terms.
 */
export interface Store {
  readonly definition: ResourceDefinition;
  readonly cache: WatchCache;
  /** Proves how fresh the cache is. */
  readonly fence: Fence;

  /** The object as the host has it now. @throws 404 */
  get(namespace: string, name: string, signal?: AbortSignal): Promise<KubeObject>;
  /** A page or an exact version, from the host. */
  list(options: HostListOptions): Promise<HostPage>;
  /** @throws 409 AlreadyExists, 422 */
  create(object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  /** Replaces the object; metadata.resourceVersion, where set, must be the live one. @throws 404, 409 Conflict, 422 */
  update(object: KubeObject, options: WriteOptions, subresource?: Subresource): Promise<KubeObject>;
  /** Server-side apply (KEP-555). @throws 409 Conflict with the fields' managers as causes */
  apply(object: KubeObject, options: ApplyOptions, subresource?: Subresource): Promise<{ object: KubeObject; created: boolean }>;
  delete(namespace: string, name: string, options: DeleteOptions, write?: Pick<WriteOptions, 'signal' | 'warn'>): Promise<DeleteResult>;

  /** Feeds a handler as a reflector would, from the watch cache: a replace once the cache is complete, then events. Returns how to end it. */
  observe(handler: ReflectorHandler): () => void;

  start(): void;
  stop(): Promise<void>;
}
