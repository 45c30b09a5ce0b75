import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { collectionPath, fieldManager, type RestResource } from '../../controller/apply.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ifFound } from '../../kube/status-error.ts';
import type { Secret } from './facts.ts';

export const secrets: RestResource = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };

const metadataOnly = (kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList') => ({ accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` });

/** Secrets of the kube-apiserver, one by one. All methods throw StatusError; undefined is what does not exist. */
export const secretStore = (client: Pick<KubeClient, 'json'>) => {
  const pathOf = (namespace: string, name: string): string => `${collectionPath(secrets, encodeURIComponent(namespace))}/${encodeURIComponent(name)}`;
  return {
    get: (namespace: string, name: string): Promise<Secret> => client.json<Secret>({ path: pathOf(namespace, name) }),
    find: (namespace: string, name: string): Promise<Secret | undefined> => ifFound(client.json<Secret>({ path: pathOf(namespace, name) })),
    /** Its metadata alone. */
    findMetadata: (namespace: string, name: string): Promise<KubeObject | undefined> =>
      ifFound(client.json<KubeObject>({ path: pathOf(namespace, name), headers: metadataOnly('PartialObjectMetadata') })),
    listMetadata: async (namespace: string, labelSelector: string): Promise<KubeObject[]> => {
      const path = collectionPath(secrets, encodeURIComponent(namespace));
      const { items } = await client.json<{ items: KubeObject[] | null }>({ path, query: { labelSelector }, headers: metadataOnly('PartialObjectMetadataList') });
      return items ?? []; // null where there are none
    },
    create: (secret: Secret): Promise<Secret> =>
      client.json<Secret>({ method: 'POST', path: collectionPath(secrets, encodeURIComponent(secret.metadata.namespace!)), query: { fieldManager }, body: secret }),
    /** Merges a change into the very version that was read. @throws 409 where it changed since */
    merge: ({ metadata: { namespace, name, uid, resourceVersion } }: KubeObject, change: { metadata?: object; data?: Record<string, string | null> }): Promise<Secret> =>
      client.json<Secret>({
        method: 'PATCH',
        path: pathOf(namespace!, name!),
        query: { fieldManager },
        contentType: 'application/merge-patch+json',
        body: { ...change, metadata: { ...change.metadata, uid, resourceVersion } },
      }),
    /** This very version, or nothing. */
    remove: async ({ metadata: { namespace, name, uid, resourceVersion } }: KubeObject): Promise<void> => {
      const body = { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      await ifFound(client.json({ method: 'DELETE', path: pathOf(namespace!, name!), body }));
    },
  };
};

export type SecretStore = ReturnType<typeof secretStore>;
