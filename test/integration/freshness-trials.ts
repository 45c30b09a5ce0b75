import type { KubeObject, KubeList, ObjectMeta } from '../../api/meta/v1/types.ts';
import type { KubeClient, Query } from '../../pkg/kube/client.ts';
import { create, patch, tenantPath, Watch } from './client.ts';
import { hasCode } from '../../pkg/kube/status-error.ts';
import { eventually } from '../poll.ts';

export interface Writer {
  name: string;
  client: KubeClient;
  path: (namespace: string, name?: string) => string;
  object: (name: string, metadata: object) => object;
}

export interface Reader {
  name: string;
  client: KubeClient;
}

/** A write that was acknowledged. */
export interface Change {
  verb: 'create' | 'update' | 'delete';
  namespace: string;
  name: string;
  /** Version that the answer named; 0 where it named none, as for an object that was deleted at once. */
  version: number;
}

/** What a reader was shown. */
type Seen = Map<string, ObjectMeta>;

/** Stands last in its namespace and is there all the time: when it comes, a watch has given all of its initial state. */
export const lastName = 'zzz';
const label = 'example.org/trial';

/** Carries out a write and waits for the answer. */
export const change = async ({ client, path, object }: Writer, verb: Change['verb'], namespace: string, name: string): Promise<Change> => {
  const labels = { [label]: name };
  const answer = await {
    create: () => create(client, path(namespace), object(name, { labels })),
    update: () => patch(client, path(namespace, name), { metadata: { annotations: { [label]: 'updated' } } }),
    delete: () => client.json<KubeObject>({ method: 'DELETE', path: path(namespace, name) }),
  }[verb]();
  return { verb, namespace, name, version: Number(answer.metadata.resourceVersion ?? 0) };
};

/** How a reader was shown less than what was acknowledged; undefined where it was not. */
export const missOf = ({ verb, namespace, name, version }: Change, seen: Seen): string | undefined => {
  const found = seen.get(`${namespace}/${name}`);
  if (verb === 'delete') return found && !found.deletionTimestamp ? `${name} at ${found.resourceVersion} is there, not being deleted` : undefined;
  if (!found) return `${name} at ${version} is not there`;
  return Number(found.resourceVersion) >= version ? undefined : `${name} is there at ${found.resourceVersion}, not at ${version}`;
};

const seenIn = (items: { metadata: ObjectMeta }[]): Seen => new Map(items.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata]));
const accepting = (kind: string): Record<string, string> => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });

const list = async (client: KubeClient, namespace: string | undefined, query?: Query, headers?: Record<string, string>): Promise<Seen> =>
  seenIn((await client.json<KubeList>({ path: tenantPath(namespace), query, headers })).items);

const table = async (client: KubeClient, namespace: string): Promise<Seen> => {
  const { rows } = await client.json<{ rows: { object: KubeObject }[] }>({ path: tenantPath(namespace), headers: accepting('Table') });
  return seenIn(rows.map(({ object }) => object));
};

/** The state that a watch without a version begins with. */
const watched = async (client: KubeClient, namespace: string, query: Query): Promise<Seen> => {
  const watch = await Watch.open(client, tenantPath(namespace), { ...query, timeoutSeconds: 30 });
  try {
    const last = (): number => watch.events.findIndex(({ type, object }) => (query['sendInitialEvents'] ? type === 'BOOKMARK' : object.metadata.name === lastName));
    await eventually('the initial state is there', () => last() >= 0, { everyMs: 5 });
    return seenIn(watch.events.slice(0, last()).map(({ object }) => object as KubeObject));
  } finally {
    watch.close();
  }
};

/** Repeats a read that the server refuses to answer because it cannot know, which is honest; `refused` is told of each. */
export const insist = async <T>(read: () => Promise<T>, refused: () => void): Promise<T> =>
  eventually('a read is answered', async () => {
    try {
      return await read();
    } catch (error) {
      if (!hasCode(error, 503)) throw error;
      refused();
      return undefined;
    }
  });

/** All that claims to be the newest state. */
export const reads: readonly (readonly [form: string, read: (client: KubeClient, namespace: string, change: Change) => Promise<Seen>])[] = [
  ['whole list', (client) => list(client, undefined)],
  ['list of a namespace', (client, namespace) => list(client, namespace)],
  ['list by label', (client, _namespace, { name }) => list(client, undefined, { labelSelector: `${label}=${name}` })],
  ['list by name', (client, namespace, { name }) => list(client, namespace, { fieldSelector: `metadata.name=${name}` })],
  ['first page', (client, namespace) => list(client, namespace, { limit: 500 })],
  ['Table', table],
  ['PartialObjectMetadataList', (client, namespace) => list(client, namespace, {}, accepting('PartialObjectMetadataList'))],
  ['watch', (client, namespace) => watched(client, namespace, {})],
  ['watch-list', (client, namespace) => watched(client, namespace, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true })],
];
