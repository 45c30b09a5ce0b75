import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { tenantGatewayRecords } from '../../api/records/v1alpha1/records.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { statusOf, type KubeClient, type KubeRequest, type KubeResponse } from '../../pkg/kube/client.ts';
import { resourcePath, type ResourceNames } from '../../pkg/storage/names.ts';
import type { Processes } from './processes.ts';

/** A server that is measured, with the one kind of object that is measured on it. */
export interface Subject {
  name: string;
  names: ResourceNames;
  client: KubeClient;
  /** Asked each time: a server that was started again is another process. */
  processes: () => Processes;
  spec: (name: string) => object;
  /** Makes objects of all kinds equally large. */
  padding: string;
}

export const twinNames = { ...tenantGateways, group: 'gateway.twinned.test' };
export const flunderNames: ResourceNames = { group: 'wardle.example.com', version: 'v1alpha1', kind: 'Flunder', listKind: 'FlunderList', plural: 'flunders', namespaced: true };
/** Records under a group that the bare server of floor-server.ts hands on. */
export const floorNames: ResourceNames = { ...tenantGatewayRecords, group: 'records.bare.test' };

/** What the label holds of every so many objects. */
export const labelEvery = 7;
const label = 'example.org/group';
export const selector = `${label}=3`;
const namespaceCount = 20;

export const namespaces: readonly string[] = Array.from({ length: namespaceCount }, (_, index) => `bench-${String(index).padStart(2, '0')}`);

export interface Key {
  namespace: string;
  name: string;
}

/** The key of the object with a number; numbers go round the namespaces. */
export const keyOf = (index: number, prefix = 'gateway'): Key => ({
  namespace: namespaces[index % namespaceCount]!,
  name: `${prefix}-${String(index).padStart(5, '0')}`,
});

export const gatewaySpec = (name: string): object => ({ apex: `${name}.example.org`, certMode: 'http01' });
export const flunderSpec = (): object => ({ referenceType: 'Flunder', reference: 'another' });

export const pathOf = ({ names }: Pick<Subject, 'names'>, key?: Partial<Key>): string => resourcePath(names, key?.namespace, key?.name);

export const bodyOf = ({ names, spec, padding }: Subject, { namespace, name }: Key, index: number): KubeObject => ({
  apiVersion: apiVersionOf(names),
  kind: names.kind,
  metadata: {
    namespace,
    name,
    labels: { [label]: String(index % labelEvery) },
    ...(padding && { annotations: { 'example.org/padding': padding } }),
  },
  spec: spec(name),
});

/** A request whose answer counts only if it is a success. */
export const succeed = async (client: KubeClient, request: KubeRequest): Promise<KubeResponse> => {
  const answer = await client.request({ timeoutMs: 120_000, ...request });
  if (answer.status >= 300) throw statusOf(answer.status, answer.body);
  return answer;
};

export const createObject = async (subject: Subject, key: Key, index: number): Promise<KubeObject> => {
  const { body } = await succeed(subject.client, { method: 'POST', path: pathOf(subject, { namespace: key.namespace }), body: bodyOf(subject, key, index) });
  return JSON.parse(body.toString('utf8')) as KubeObject;
};

export const deleteObject = async (subject: Subject, key: Key): Promise<void> => {
  await succeed(subject.client, { method: 'DELETE', path: pathOf(subject, key) });
};

/** Carries out a task for each number below `count`, some at a time. */
export const concurrently = async (count: number, task: (index: number) => Promise<unknown>, atATime = 16): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atATime, count) }, worker));
};

/** The version that a server's collection is at. */
export const latestVersion = async (subject: Subject): Promise<string> => {
  const { body } = await succeed(subject.client, { path: pathOf(subject), query: { limit: 1 } });
  return (JSON.parse(body.toString('utf8')) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
};
