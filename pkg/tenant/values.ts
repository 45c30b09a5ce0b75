import { parse, stringify } from 'yaml';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { controllerOf } from '../controller/apply.ts';
import type { Inherited } from './inheritance.ts';
import { rootNamespace } from './names.ts';
import { part, type Part, type PartContext } from './part.ts';
import { isObject } from '../json/object.ts';

/** The Secret in each tenant's namespace that charts read, and its one key. */
export const valuesName = 'cozystack-values';
const valuesKey = 'values.yaml';

/** What the platform says to charts of all tenants (`_cluster`). */
export type ClusterValues = Readonly<Record<string, unknown>>;

/** What a tenant is to hand on, or why that cannot be told: then what it has stays as it is. */
export type HandedDown = { values: ClusterValues } | { fault: string };

/**
 * What the Secret of a namespace hands down. Root's may be the platform's, every other is ours: another one is not believed.
 * What cannot be read is told without its content.
 */
export const handedDownBy = (secret: KubeObject, namespace: KubeObject): HandedDown => {
  const which = `Secret ${namespace.metadata.name}/${valuesName}`;
  if (namespace.metadata.name !== rootNamespace && controllerOf(secret)?.uid !== namespace.metadata.uid) return { fault: `${which} was not made by the loop` };
  const known = parsed.get(secret);
  if (known) return known;
  const values = clusterValuesIn(secret);
  const result = values ? { values } : { fault: `${which} has no map _cluster in its key ${valuesKey}` };
  parsed.set(secret, result);
  return result;
};

/** Objects of a cache never change, and all children of a tenant ask for the same. */
const parsed = new WeakMap<KubeObject, HandedDown>();

const clusterValuesIn = ({ data }: KubeObject): ClusterValues | undefined => {
  const text = (data as Record<string, unknown> | undefined)?.[valuesKey];
  try {
    return typeof text === 'string' ? asMap((parseValues(Buffer.from(text, 'base64').toString('utf8')) as { _cluster?: unknown } | null)?._cluster) : undefined;
  } catch {
    return undefined;
  }
};

/** YAML with whole numbers as they are, however large. @throws YAMLParseError */
export const parseValues = (text: string): unknown => parse(text, { intAsBigInt: true, maxAliasCount: 100 }) as unknown;

export const asMap = (value: unknown): ClusterValues | undefined => (isObject(value) ? value : undefined);

/** The Secret of a tenant. Root's is made only where the platform has none. */
export const valuesParts = (context: PartContext, handedDown: HandedDown): Part[] => {
  if ('fault' in handedDown) return [];
  const text = stringify({ _cluster: handedDown.values, _namespace: namespaceValues(context.inherited) }, { lineWidth: 0 });
  return [part('values', context, valuesName, { type: 'Opaque', data: { [valuesKey]: Buffer.from(text).toString('base64') } }, { labels: { 'reconcile.fluxcd.io/watch': 'Enabled' } })];
};

const namespaceValues = ({ etcd, ingress, gateway, monitoring, seaweedfs, host, schedulingClass }: Inherited) => ({
  etcd,
  ingress,
  gateway,
  monitoring,
  seaweedfs,
  host,
  ...(schedulingClass && { schedulingClass }),
});
