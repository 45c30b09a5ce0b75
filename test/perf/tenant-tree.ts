import type { KubeList } from '../../api/meta/v1/types.ts';
import { hasCode } from '../../pkg/kube/status-error.ts';
import type { KubeClient } from '../../pkg/kube/client.ts';
import { partKinds, partResources } from '../../pkg/tenant/part.ts';
import { collectionPath } from '../../pkg/controller/apply.ts';
import { tenantNamed, tenantPath } from '../integration/client.ts';
import { eventually } from '../poll.ts';

const depth = 5;
const patienceMs = 15 * 60_000;

/** Where the tenant with a number is: lines of five, each below the one before. */
export const placeOf = (index: number): { namespace: string; name: string; own: string } => {
  const top = `tenant-t${Math.floor(index / depth)}`;
  const below = index % depth;
  if (below === 0) return { namespace: 'tenant-root', name: top.slice('tenant-'.length), own: top };
  const namespace = top + '-a'.repeat(below - 1);
  return { namespace, name: 'a', own: `${namespace}-a` };
};

/** Makes tenants as fast as the namespaces above them come. @returns milliseconds until all were Ready */
export const growTree = async (client: KubeClient, from: number, to: number, atATime = 32): Promise<number> => {
  const began = performance.now();
  const lines = new Map<number, number[]>();
  for (let index = from; index < to; index += 1) lines.set(Math.floor(index / depth), [...(lines.get(Math.floor(index / depth)) ?? []), index]);
  const waiting = [...lines.values()];
  const worker = async (): Promise<void> => {
    for (let line = waiting.shift(); line; line = waiting.shift()) for (const index of line) await createAt(client, index);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  await eventually('all tenants are Ready', async () => (await notReady(client)) === 0, { withinMs: patienceMs, everyMs: 500 });
  return performance.now() - began;
};

const createAt = async (client: KubeClient, index: number): Promise<void> => {
  const { namespace, name } = placeOf(index);
  await eventually(`the namespace of tenant ${index} is there`, () =>
    client.json({ method: 'POST', path: tenantPath(namespace), body: tenantNamed(name), timeoutMs: 60_000 }).then(
      () => true as const,
      (error: unknown) => {
        if (hasCode(error, 404)) return undefined;
        throw error;
      },
    ), { withinMs: patienceMs, everyMs: 20 });
};

const notReady = async (client: KubeClient): Promise<number> => {
  const { items } = await client.json<KubeList>({ path: tenantPath(), timeoutMs: 60_000 });
  const ready = items.filter(({ status }) => (status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'));
  return items.length - ready.length;
};

/** How many objects the loop has made: namespaces, and what is in them. */
export const countMade = async (client: KubeClient): Promise<number> => {
  const paths = ['/api/v1/namespaces', ...partKinds.map((what) => collectionPath(partResources[what]))];
  let count = 0;
  for (const path of paths) {
    const { status, body } = await client.request({ path, query: { labelSelector: 'app.kubernetes.io/managed-by=tenant-apiserver,tenant.cozystack.io/uid' }, headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }, timeoutMs: 60_000 });
    if (status === 200) count += (JSON.parse(body.toString('utf8')) as { items: unknown[] | null }).items?.length ?? 0; // an empty list of metadata has none
  }
  return count;
};
