import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hasCode } from '../../kube/status-error.ts';
import { versionOf } from '../cache-entry.ts';
import { resourcePath, type ResourceNames } from '../names.ts';

/** Name of the fence among the records of the server's own namespace; admission keeps it from clients. */
export const fenceName = 'fence.records.cozystack.io';
const valueAnnotation = 'records.cozystack.io/fence';
const fenceFieldManager = 'tenant-apiserver-fence';

/** How long the host may take to answer a fence. Who cannot wait so long gives up sooner. */
export const fenceTimeoutMs = 10_000;

export interface FenceObjectOptions {
  client: KubeClient;
  record: ResourceNames;
  namespace: string;
  /** The least that the record's schema demands. */
  spec: unknown;
  /** Tells this process's fences from other replicas'. */
  identity: string;
}

/** Writes the fence object with a value that was never there before; gives the version it got. Makes it where it is missing. */
export const fenceWriter = ({ client, record, namespace, spec, identity }: FenceObjectOptions): (() => Promise<number>) => {
  let count = 0;
  return async () => {
    count += 1;
    const metadata = { annotations: { [valueAnnotation]: `${identity}/${count}` } };
    const query = { fieldManager: fenceFieldManager };
    try {
      const patched = await client.json<KubeObject>({
        method: 'PATCH',
        path: resourcePath(record, namespace, fenceName),
        query,
        contentType: 'application/merge-patch+json',
        body: { metadata },
        timeoutMs: fenceTimeoutMs,
      });
      return versionOf(patched);
    } catch (error) {
      if (!hasCode(error, 404)) throw error;
    }
    const created = await client.json<KubeObject>({
      method: 'POST',
      path: resourcePath(record, namespace),
      query,
      body: { apiVersion: apiVersionOf(record), kind: record.kind, metadata: { ...metadata, name: fenceName, namespace }, spec },
      timeoutMs: fenceTimeoutMs,
    });
    return versionOf(created);
  };
};
