import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { call, type Answer, type Credentials } from '../../../hack/controlplane/request.ts';
import { customResourceDefinition } from '../../../pkg/endpoints/documents/crd.ts';
import type { Event } from '../../../pkg/audit/event.ts';
import { kinds, textFor, twinOf, type Side } from '../../contract/sides.ts';
import { atEnd } from '../../lifecycle.ts';
import { eventually } from '../../poll.ts';
import { quietCluster, type Cluster } from '../cluster.ts';

/** Namespaces by what the policy records of requests in them. */
export const namespaces = ['level-metadata', 'level-request', 'level-everything', 'level-unmanaged'] as const;

const groups = [kinds.gateway, twinOf(kinds.gateway)].map(({ group }) => ({ group }));

/** Both sides go by the same policy. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'None', users: ['silent'] },
    { level: 'Metadata', resources: groups, namespaces: ['level-metadata'], omitStages: ['RequestReceived'] },
    { level: 'Request', resources: groups, namespaces: ['level-request'] },
    { level: 'RequestResponse', resources: groups, namespaces: ['level-everything'] },
    { level: 'RequestResponse', resources: groups, namespaces: ['level-unmanaged'], omitManagedFields: true },
    { level: 'RequestResponse', resources: groups },
    { level: 'RequestResponse', nonResourceURLs: ['/version', '/nothing/*', '/livez', '/healthz*'] },
  ],
};

export interface AuditRequest {
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  as?: Credentials;
}

/** The kube-apiserver and our server, each with an audit log, and a way to ask both the same. */
export class AuditWorld {
  readonly cluster: Cluster;
  readonly logs: Record<Side, EventLog>;

  constructor(cluster: Cluster, logs: Record<Side, EventLog>) {
    this.cluster = cluster;
    this.logs = logs;
  }

  /** One request to a side itself, never through the other. */
  ask(side: Side, auditId: string, { as, body, headers, ...rest }: AuditRequest): Promise<Answer> {
    const { controlPlane, port } = this.cluster;
    const credentials = as ?? controlPlane.admin;
    const target = side === 'twin' ? { url: controlPlane.url, caPem: controlPlane.caPem, credentials } : { url: `https://127.0.0.1:${port}`, trustAnyServer: true, credentials };
    const text = (value: string): string => textFor(side, value);
    return call(target, {
      ...rest,
      path: text(rest.path),
      ...(body !== undefined && { body: JSON.parse(text(JSON.stringify(body))) as unknown }),
      headers: { ...headers, 'audit-id': auditId },
    });
  }

  /** The events of a request, once the last of them is there. */
  events(side: Side, auditId: string, last: Event['stage'] = 'ResponseComplete'): Promise<Event[]> {
    return eventually(`the ${side} log has ${last} of ${auditId}`, async () => {
      const found = await this.logs[side].of(auditId);
      return found.some(({ stage }) => stage === last) && found;
    }, { everyMs: 20 });
  }

  /** The events of a request that is to leave none: those there are once a later one has its own. */
  async eventsOfNone(side: Side, auditId: string): Promise<Event[]> {
    await this.ask(side, `${auditId}-after`, { path: '/version' });
    await this.events(side, `${auditId}-after`);
    return this.logs[side].of(auditId);
  }
}

/** An audit log that is being written; what was read is not read again. */
export class EventLog {
  readonly #file: string;
  readonly #events = new Map<string, Event[]>();
  #read = 0;
  #reading: Promise<void> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The events of a request that are there now. */
  async of(auditId: string): Promise<Event[]> {
    this.#reading ??= this.#readOn().finally(() => (this.#reading = undefined));
    await this.#reading;
    return this.#events.get(auditId) ?? [];
  }

  async #readOn(): Promise<void> {
    const bytes = (await readFile(this.#file).catch(() => Buffer.alloc(0))).subarray(this.#read);
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
    this.#read += whole.length;
    for (const line of whole.toString().split('\n').filter(Boolean)) {
      const event = JSON.parse(line) as Event;
      this.#events.set(event.auditID, [...(this.#events.get(event.auditID) ?? []), event]);
    }
  }
}

let world: Promise<AuditWorld> | undefined;

export const auditWorld = (): Promise<AuditWorld> => {
  world ??= build();
  return world;
};

const build = async (): Promise<AuditWorld> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'audit-'));
  atEnd((failed) => (failed ? console.log(`  audit logs are kept in ${folder}`) : rm(folder, { recursive: true, force: true })));
  const policyFile = path.join(folder, 'policy.yaml');
  await writeFile(policyFile, stringify(policy));
  const logs = { twin: path.join(folder, 'kube-apiserver.log'), ours: path.join(folder, 'tenant-apiserver.log') };
  const flags = (side: Side): string[] => [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logs[side]}`];
  const cluster = await quietCluster({ apiserverArgs: flags('twin') }, flags('ours'));
  const { kubectl, controlPlane } = cluster;
  const crd = customResourceDefinition(twinOf(kinds.gateway));
  const apply = (items: readonly object[]): Promise<string> => kubectl.run(['apply', '--server-side', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  await apply([crd, ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })), ...roles()]);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', `crd/${crd.metadata.name}`], { timeoutMs: 70_000 });
  const { group, version, plural } = twinOf(kinds.gateway);
  await eventually('the twin is served', async () => (await controlPlane.request({ path: `/apis/${group}/${version}/${plural}` })).status === 200);
  return new AuditWorld(cluster, { ours: new EventLog(logs.ours), twin: new EventLog(logs.twin) });
};

/** ada may do all with gateways; imp may be anybody. */
const roles = (): object[] => {
  const role = (name: string, rules: object[], user: string): object[] => [
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ];
  const apiGroups = groups.map(({ group }) => group);
  return [
    ...role('audit-gateways', [{ apiGroups, resources: ['*'], verbs: ['*'] }], 'ada'),
    ...role('audit-impersonator', [{ apiGroups: ['', 'authentication.k8s.io'], resources: ['users', 'groups', 'uids', 'userextras/scope', 'serviceaccounts'], verbs: ['impersonate'] }], 'imp'),
    ...role(
      'audit-constrained',
      [
        { apiGroups: ['authentication.k8s.io'], resources: ['users'], verbs: ['impersonate:user-info'] },
        { apiGroups, resources: ['*'], verbs: ['impersonate-on:user-info:get'] },
      ],
      'conny',
    ),
  ];
};
