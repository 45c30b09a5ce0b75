import type { KubeObject } from '../../api/meta/v1/types.ts';
import { fieldManager, type Target } from '../controller/apply.ts';
import { keyOf, type InformerSource } from '../controller/informer.ts';
import type { EventType, ReflectorHandler } from '../kube/reflector.ts';
import { StatusError } from '../kube/status-error.ts';
import type { Surroundings } from './observed.ts';
import { defaultTenantSettings } from './settings.ts';
import { isObject, type JsonObject } from '../json/object.ts';

const thing = { group: 'x.test', resource: 'things' };

/** A cluster with nothing in it. For tests. */
export const bareSurroundings: Surroundings = { settings: defaultTenantSettings, hasPublicNamespace: false, missing: new Set(['ciliumPolicy', 'ciliumClusterPolicy', 'module']), handedDown: { values: {} }, platform: { values: {} }, apiServer: { addresses: [], ports: [] } };

/** As much of a kube-apiserver's collection as the tenants' controller can tell: apply with managed fields, finalizers, versions, events. For tests. */
export class FakeCollection implements Target {
  readonly objects = new Map<string, KubeObject>();
  /** What was written, in order. */
  readonly writes: string[] = [];
  /** How often an object was asked for. */
  reads = 0;
  /** How many applies were meant for what is no longer, or not yet, so. */
  conflicts = 0;
  /** The answer to every apply, if set. */
  rejects: StatusError | undefined;
  readonly #name: string;
  readonly #newVersion: () => string;
  readonly #handlers: ReflectorHandler[] = [];
  #late: (() => void)[] | undefined;

  constructor(name: string, newVersion: () => string) {
    this.#name = name;
    this.#newVersion = newVersion;
  }

  readonly source: InformerSource = (handler) => {
    this.#handlers.push(handler);
    handler.replace([...this.objects.values()], '0');
    return () => Promise.resolve();
  };

  /** From now on the watch says nothing, until what this returns is called. */
  delay(): () => void {
    const late: (() => void)[] = [];
    this.#late = late;
    return () => {
      this.#late = undefined;
      for (const tell of late) tell();
    };
  }

  #tell(type: EventType, object: KubeObject): void {
    const tell = (): void => this.#handlers.forEach((handler) => handler.event(type, object));
    if (this.#late) this.#late.push(tell);
    else tell();
  }

  put(object: KubeObject): KubeObject {
    const key = keyOf(object);
    const old = this.objects.get(key);
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp && finalizers.length === 0) {
      this.objects.delete(key);
      this.#newVersion();
      this.#tell('DELETED', object);
      return object;
    }
    const version = this.#newVersion();
    const kept = { ...object, metadata: { uid: `uid-${version}`, ...object.metadata, resourceVersion: version, generation: (old?.metadata.generation ?? 0) + (old?.spec === object.spec ? 0 : 1) } };
    this.objects.set(key, kept);
    this.#tell(old ? 'MODIFIED' : 'ADDED', kept);
    return kept;
  }

  async get(namespace: string, name: string): Promise<KubeObject> {
    this.reads += 1;
    return this.#found(namespace, name);
  }

  #found(namespace: string, name: string): KubeObject {
    const found = this.objects.get(namespace ? `${namespace}/${name}` : name);
    if (!found) throw StatusError.notFound(thing, name);
    return found;
  }

  async update(object: KubeObject): Promise<KubeObject> {
    const found = this.#found(object.metadata.namespace ?? '', object.metadata.name!);
    if (found.metadata.resourceVersion !== object.metadata.resourceVersion) throw StatusError.conflict(thing, object.metadata.name!, 'changed');
    this.writes.push(`update ${this.#name} ${keyOf(object)}`);
    return this.put(object);
  }

  /** Where somebody else applies. */
  as(manager: string): Pick<Target, 'apply'> {
    return { apply: (desired, subresource) => this.apply(desired, subresource ?? '', manager) };
  }

  async apply(desired: KubeObject, subresource: '' | 'status' = '', manager = fieldManager): Promise<KubeObject> {
    if (this.rejects) throw this.rejects;
    const { uid, resourceVersion, ...metadata } = desired.metadata;
    const found = this.objects.get(keyOf(desired));
    if (found ? resourceVersion || (uid && uid !== found.metadata.uid) : uid) {
      this.conflicts += 1;
      throw StatusError.conflict(thing, metadata.name!, 'not what was meant');
    }
    this.writes.push(`apply${subresource && ' '}${subresource} ${this.#name} ${keyOf(desired)}`);
    const managedFields = found?.metadata.managedFields ?? [];
    const isTheirs = (entry: { manager?: string; subresource?: string }): boolean => entry.manager === manager && (entry.subresource ?? '') === subresource;
    const owned = managedFields.find(isTheirs)?.fieldsV1 ?? {};
    const { apiVersion, kind, metadata: _metadata, ...rest } = desired;
    const { name: _name, namespace: _namespace, ...wanted } = metadata;
    const sent = { ...rest, ...(Object.keys(wanted).length > 0 && { metadata: wanted }) };
    const merged = merge(without(found ?? {}, owned), { ...sent, apiVersion, kind, metadata }) as KubeObject;
    const entry = { manager, operation: 'Apply' as const, apiVersion, fieldsV1: fieldsOf(sent), ...(subresource && { subresource }) };
    const entries = [...managedFields.filter((other) => !isTheirs(other)), entry];
    return this.put({ ...merged, metadata: { ...merged.metadata, managedFields: entries } });
  }

  async delete(namespace: string, name: string, uid: string): Promise<void> {
    const found = this.#found(namespace, name);
    if (found.metadata.uid !== uid) throw StatusError.conflict(thing, name, 'another object');
    this.writes.push(`delete ${this.#name} ${keyOf(found)}`);
    this.end(found);
  }

  /** As a client deletes. */
  end(object: KubeObject): void {
    if (!object.metadata.deletionTimestamp) this.put({ ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-11-30T12:00:00Z' } });
  }
}

/** Lists are atomic here. */
const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [`f:${key}`, fieldsOf(item)])) : {});

const without = (value: JsonObject, owned: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const mark = owned[`f:${key}`] as JsonObject | undefined;
      if (!mark) return [[key, item]];
      return isObject(item) && Object.keys(mark).length > 0 ? [[key, without(item, mark)]] : [];
    }),
  );

const merge = (value: unknown, change: unknown): unknown => {
  if (!isObject(value) || !isObject(change)) return change;
  return Object.fromEntries([...new Set([...Object.keys(value), ...Object.keys(change)])].map((key) => [key, key in change ? merge(value[key], change[key]) : value[key]]));
};
