import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { isManaged, managedBy } from '../../controller/apply.ts';
import { tenantUidLabel } from '../../tenant/names.ts';
import type { Secret } from '../secrets/facts.ts';
import type { Source } from './source.ts';

/** On each replica, as in Cozystack. */
export const copyLabel = 'cozystack.io/wildcard-secret-copy';
export const sourceAnnotation = 'cozystack.io/wildcard-secret-source';

/** Selects replicas. */
export const copySelector = `${copyLabel}=true`;

const isCopy = ({ metadata }: KubeObject): boolean => metadata.labels?.[copyLabel] === 'true';

/**
 * Whether TLS of a tenant ends in its namespace. That takes both: the Tenant says so, and the namespace is the one that was made for
 * it. A label that somebody set is no reason to hand out a private key.
 */
export const terminatesTls = (namespace: KubeObject, { metadata: { uid }, spec }: Tenant): boolean =>
  (spec?.gateway === true || spec?.ingress === true) && isManaged(namespace) && namespace.metadata.labels?.[tenantUidLabel] === uid;

/** What is found in a namespace, and what the source is. */
export interface ReplicaView {
  namespace: string;
  isTarget: boolean;
  source: Source;
  /** All replicas there, metadata only. */
  copies: readonly KubeObject[];
  /** The Secret of the source's name, where a replica should be. */
  existing: Secret | undefined;
}

export type ReplicaAction =
  | { do: 'create'; secret: Secret }
  | { do: 'update'; secret: Secret; change: { metadata: object; data: Record<string, string | null> } }
  /** What differs cannot be changed. */
  | { do: 'replace'; secret: Secret; by: Secret }
  | { do: 'delete'; secret: KubeObject }
  /** Somebody else's stands where the replica should. */
  | { do: 'skip'; secret: Secret };

/** What to do about replicas in a namespace. Without a word from the platform, or without a good source, everything stays. Pure. */
export const planReplicas = (view: ReplicaView): ReplicaAction[] => {
  const { source, copies, isTarget, namespace } = view;
  if (source.state === 'off') return copies.map((secret) => ({ do: 'delete', secret }));
  if (source.state !== 'on' || !source.secret) return [];
  const isHere = namespace === source.namespace;
  const stale = copies.filter(({ metadata: { name } }) => name !== source.name || !(isTarget || isHere));
  const pruned = stale.map((secret): ReplicaAction => ({ do: 'delete', secret }));
  return isTarget && !isHere ? [...replicate(view, replicaOf(namespace, source.secret)), ...pruned] : pruned;
};

const replicaOf = (namespace: string, { metadata: { namespace: from, name }, type, data = {} }: Secret): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name, labels: { ...managedBy, [copyLabel]: 'true' }, annotations: { [sourceAnnotation]: `${from}/${name}` } },
  type,
  data,
});

const replicate = ({ existing }: ReplicaView, desired: Secret): ReplicaAction[] => {
  if (!existing) return [{ do: 'create', secret: desired }];
  if (!isCopy(existing)) return [{ do: 'skip', secret: existing }];
  const { labels, annotations } = desired.metadata as { labels: Record<string, string>; annotations: Record<string, string> };
  const data = dataChange(existing.data ?? {}, desired.data!);
  const isSame = existing.type === desired.type && Object.keys(data).length === 0;
  if (isSame && holds(existing.metadata.labels, labels) && holds(existing.metadata.annotations, annotations)) return [];
  if (existing.type !== desired.type || existing.immutable) return [{ do: 'replace', secret: existing, by: desired }];
  return [{ do: 'update', secret: existing, change: { metadata: { labels, annotations }, data } }];
};

/** Merges one into the other: what is too much is null. */
const dataChange = (from: Record<string, string>, to: Record<string, string>): Record<string, string | null> => ({
  ...Object.fromEntries(Object.keys(from).filter((key) => !(key in to)).map((key) => [key, null])),
  ...Object.fromEntries(Object.entries(to).filter(([key, value]) => from[key] !== value)),
});

const holds = (present: Record<string, string> = {}, wanted: Record<string, string>): boolean => Object.entries(wanted).every(([key, value]) => present[key] === value);
