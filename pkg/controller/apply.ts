import type { KubeObject, OwnerReference } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { hasCode, type StatusError } from '../kube/status-error.ts';
import type { Store } from '../storage/store.ts';
import { applyWouldChange } from './managed-fields.ts';

/** Who writes, in managedFields. */
export const fieldManager = 'tenant-apiserver';

/** Everything that the loop makes carries this label. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedBy = { [managedByLabel]: fieldManager };

export const isManaged = (object: KubeObject): boolean => object.metadata.labels?.[managedByLabel] === fieldManager;

export const controllerOf = (object: KubeObject): OwnerReference | undefined => object.metadata.ownerReferences?.find(({ controller }) => controller);

/** A resource of the kube-apiserver, as its paths and objects name it. */
export interface RestResource {
  apiVersion: string;
  kind: string;
  plural: string;
}

export const collectionPath = ({ apiVersion, plural }: RestResource, namespace = ''): string =>
  `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}${namespace && `/namespaces/${namespace}`}/${plural}`;

/** Where objects of one resource are written: the kube-apiserver, or a store of virtual objects. */
export interface Target {
  get(namespace: string, name: string): Promise<KubeObject>;
  apply(object: KubeObject, subresource?: 'status'): Promise<KubeObject>;
  delete(namespace: string, name: string, uid: string): Promise<void>;
}

/** A target that also takes what no apply can say: that others' items in a list must go. */
export interface ReplaceTarget extends Target {
  /** Merges `change` into the very version that was read. @throws 409 where it changed since */
  replace(object: KubeObject, change: object): Promise<void>;
}

export const clientTarget = (client: Pick<KubeClient, 'json'>, resource: RestResource, manager = fieldManager): ReplaceTarget => {
  const pathOf = (namespace: string, name: string): string => `${collectionPath(resource, namespace)}/${name}`;
  return {
    get: (namespace, name) => client.json<KubeObject>({ path: pathOf(namespace, name) }),
    apply: (object, subresource) =>
      client.json<KubeObject>({
        method: 'PATCH',
        path: pathOf(object.metadata.namespace ?? '', object.metadata.name!) + (subresource ? `/${subresource}` : ''),
        query: { fieldManager: manager, force: true },
        contentType: 'application/apply-patch+yaml',
        body: object,
      }),
    delete: async (namespace, name, uid) => {
      const body = { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background' };
      await client.json({ method: 'DELETE', path: pathOf(namespace, name), body });
    },
    replace: async ({ metadata: { namespace, name, resourceVersion } }, change) => {
      await client.json({
        method: 'PATCH',
        path: pathOf(namespace ?? '', name!),
        query: { fieldManager: manager },
        contentType: 'application/merge-patch+json',
        body: { ...change, metadata: { resourceVersion } },
      });
    },
  };
};

export const storeTarget = (store: Pick<Store, 'get' | 'apply' | 'delete'>): Target => ({
  get: (namespace, name) => store.get(namespace, name),
  apply: async (object, subresource) => (await store.apply(object, { fieldManager, force: true }, subresource)).object,
  delete: async (namespace, name, uid) => {
    await store.delete(namespace, name, { preconditions: { uid }, propagationPolicy: 'Background' });
  },
});

export type Outcome = { result: 'unchanged' } | { result: 'written'; object: KubeObject } | { result: 'refused'; message: string };

/** No object has it: etcd counts writes from 2 on. An apply that carries it can create, and never changes what exists. */
const absentVersion = '1';

/**
 * Makes `desired` so, by server-side apply, where `live` (what the cache holds) differs.
 * An object that `isOurs` does not know is left alone: the outcome says so.
 */
export const applyObject = async (
  target: Target,
  desired: KubeObject,
  live: KubeObject | undefined,
  isOurs: (live: KubeObject) => boolean,
): Promise<Outcome> => {
  const found = live ? { existing: live } : await create(target, desired);
  if (!found.existing) return { result: 'written', object: found.created };
  const { existing } = found;
  if (!isOurs(existing)) {
    const message = `${desired.kind} ${nameOf(desired)} exists and was not made by ${fieldManager}; it is left alone: remove or rename it`;
    return { result: 'refused', message };
  }
  if (!applyWouldChange(desired, existing, fieldManager)) return { result: 'unchanged' };
  // The uid keeps an apply from creating anew what was deleted since.
  return { result: 'written', object: await target.apply({ ...desired, metadata: { ...desired.metadata, uid: existing.metadata.uid } }) };
};

/** What was made, or what stands in the way: the cache was late, or lacks it because it does not carry our label. */
const create = async (target: Target, desired: KubeObject): Promise<{ created: KubeObject; existing?: undefined } | { created?: undefined; existing: KubeObject }> => {
  try {
    return { created: await target.apply({ ...desired, metadata: { ...desired.metadata, resourceVersion: absentVersion } }) };
  } catch (error) {
    if (!hasCode(error, 409)) throw error;
    return { existing: await target.get(desired.metadata.namespace ?? '', desired.metadata.name!) };
  }
};

/** Whether trying again soon will not help: the kube-apiserver finds fault with what was sent, or with who sent it. */
export const isRejected = (error: unknown): error is StatusError => [400, 403, 422].some((code) => hasCode(error, code));

/** Writes status where it differs; false where nothing was to do. Fields that others set on it are kept. */
export const applyStatus = async (target: Target, live: KubeObject, status: object): Promise<boolean> => {
  const { apiVersion, kind, metadata } = live;
  const desired: KubeObject = { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid }, status };
  if (!applyWouldChange(desired, live, fieldManager, 'status')) return false;
  await target.apply(desired, 'status');
  return true;
};

/** Deletes this very object; one that is gone, or replaced by another of its name, is no error. */
export const deleteObject = async (target: Target, { metadata: { namespace, name, uid } }: KubeObject): Promise<void> => {
  try {
    await target.delete(namespace ?? '', name!, uid!);
  } catch (error) {
    if (!hasCode(error, 404) && !hasCode(error, 409)) throw error;
  }
};

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string => (namespace ? `${namespace}/${name}` : `${name}`);
