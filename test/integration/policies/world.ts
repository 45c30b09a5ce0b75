import assert from 'node:assert/strict';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Answer } from '../../../hack/controlplane/request.ts';
import { crdDocuments } from '../../../hack/crds/crds.ts';
import { eventually } from '../../poll.ts';
import { ownCluster, type Cluster } from '../cluster.ts';
import {
  collection, gateways, grpcRoutes, hosts, httpRoutes, ingresses, listenerSets, oldHttpRoutes, packages, people, rootApex, tcpRoutes, tlsRoutes, udpRoutes, xListenerSets,
  type Attempt, type Case, type Resource, type Verdict, type Who,
} from './cases.ts';
import { plantedInCordoned } from './cordon-cases.ts';

/** Of the experimental channel: their old versions are served there alone, or fields exist. */
const experimental = new Set(['tlsroutes', 'tcproutes', 'grpcroutes']);

/** A cluster with the product, its loop at work, and the tree root → acme → dev and shop in it; tests may change all of it. */
export class PolicyWorld {
  readonly cluster: Cluster;

  static async create(): Promise<PolicyWorld> {
    const world = new PolicyWorld(await ownCluster());
    await world.#install();
    await world.#plant();
    return world;
  }

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  async send({ method, path, body, type, from }: Attempt, as: Who = 'administrator'): Promise<Answer> {
    const headers = { ...people[as], ...(type && { 'content-type': type }) };
    return this.cluster.controlPlane.request({ method, path, body: from ? from.body(await this.get(from.path)) : body, headers });
  }

  /** Fails unless the attempt ends as the case says. */
  async judge({ attempt, as, verdict }: Omit<Case, 'name'>): Promise<void> {
    const answer = await this.send(attempt, as);
    assert.deepEqual(outcomeOf(answer, verdict), verdict, answer.text);
  }

  async get<T extends KubeObject = KubeObject>(path: string): Promise<T> {
    const answer = await this.cluster.controlPlane.request({ path });
    assert.equal(answer.status, 200, answer.text);
    return answer.json<T>();
  }

  /** For good, as the administrator. */
  async post(path: string, body: object): Promise<void> {
    const answer = await this.cluster.controlPlane.request({ method: 'POST', path, body });
    assert.equal(answer.status, 201, answer.text);
  }

  /** For good, as the administrator. */
  async patch(path: string, body: object): Promise<void> {
    const answer = await this.cluster.controlPlane.request({ method: 'PATCH', path, body, headers: { 'content-type': 'application/merge-patch+json' } });
    assert.equal(answer.status, 200, answer.text);
  }

  /** For good, as the administrator. */
  async delete(path: string): Promise<void> {
    const answer = await this.cluster.controlPlane.request({ method: 'DELETE', path });
    assert.equal(answer.status, 200, answer.text);
  }

  /** People who may do anything by RBAC, and CustomResourceDefinitions beyond those that the product works with. */
  async #install(): Promise<void> {
    const { kubectl } = this.cluster;
    const usernames = Object.entries(people).flatMap(([who, headers]) => (headers && who !== 'the server' ? [headers['impersonate-user']] : []));
    const binding = ['create', 'clusterrolebinding', 'people', '--clusterrole=cluster-admin', ...usernames.map((name) => `--user=${name}`)];
    const documents = (await crdDocuments('gateway-api-experimental')).filter((text) => experimental.has(/^ {4}plural: (\w+)$/m.exec(text)?.[1] ?? ''));
    const crds = [...documents, ...[packages, xListenerSets].map((resource) => stringify(standIn(resource)))];
    await Promise.all([kubectl.run(binding), kubectl.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: crds.join('\n---\n') })]);
    for (const resource of [gateways, listenerSets, httpRoutes, oldHttpRoutes, grpcRoutes, ...tlsRoutes, ...tcpRoutes, udpRoutes, packages, xListenerSets])
      await eventually(`${resource.plural} ${resource.version} are served`, async () => (await this.cluster.controlPlane.request({ path: collection(resource, '') })).status === 200);
  }

  /** The tree by the loop, the other namespaces by hand, and in tenant-moved what its host allowed before it changed. */
  async #plant(): Promise<void> {
    await this.#tenant('tenant-root', 'root', { host: rootApex });
    await this.#tenant('tenant-root', 'acme', { gateway: true });
    await eventually('namespace tenant-acme', async () => (await this.cluster.controlPlane.request({ path: '/api/v1/namespaces/tenant-acme' })).status === 200);
    await this.#tenant('tenant-acme', 'dev', {});
    await this.#tenant('tenant-acme', 'shop', { host: hosts['tenant-acme-shop'] });
    for (const name of ['tenant-www', 'tenant-customer', 'tenant-mixed', 'tenant-empty', 'tenant-bare', 'tenant-moved', 'cozy-harbor', 'plain'] as const) {
      const host = name === 'tenant-moved' ? 'old.example.org' : hosts[name];
      await this.post('/api/v1/namespaces', { metadata: { name, labels: host === undefined ? {} : { 'namespace.cozystack.io/host': host } } });
    }
    await this.post('/api/v1/namespaces', { metadata: { name: 'tenant-cordoned' } });
    for (const [path, body] of plantedInCordoned) await this.post(path, body);
    await this.delete('/api/v1/namespaces/tenant-cordoned/configmaps/ending');
    await this.patch('/api/v1/namespaces/tenant-cordoned', { metadata: { labels: { 'projectcapsule.dev/cordoned': 'true' } } });
    await this.post('/api/v1/namespaces/tenant-moved/configmaps', { metadata: { name: 'owner' } });
    const owner = (await this.get('/api/v1/namespaces/tenant-moved/configmaps/owner')).metadata.uid!;
    const parentRefs = [{ name: 'cozystack' }];
    const rules = [{ backendRefs: [{ name: 'app', port: 80 }] }];
    const listeners = [{ name: 'web', hostname: 'www.old.example.org', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'certificate' }] } }];
    const route = { parentRefs, hostnames: ['www.old.example.org'], rules };
    const backend = { service: { name: 'app', port: { number: 80 } } };
    for (const [resource, spec] of [
      [gateways, { gatewayClassName: 'cilium', listeners }],
      [listenerSets, { parentRef: { name: 'cozystack' }, listeners }],
      [httpRoutes, route], [grpcRoutes, route], [tlsRoutes[0]!, route],
      [tcpRoutes[0]!, { parentRefs, rules }], [udpRoutes, { parentRefs, rules }],
      [ingresses, { rules: [{ host: 'www.old.example.org', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] }],
    ] as const) {
      await eventually(`${resource.plural} in tenant-moved`, () => this.post(collection(resource, 'tenant-moved'), objectOf(resource, spec, owner)).then(() => true));
    }
    await this.post(collection(packages, ''), objectOf(packages, {}));
    await this.patch('/api/v1/namespaces/tenant-moved', { metadata: { labels: { 'namespace.cozystack.io/host': 'new.example.org' } } });
    for (const namespace of ['tenant-acme', 'tenant-acme-dev', 'tenant-acme-shop'] as const)
      await eventually(`the host of ${namespace}`, async () => (await this.get(`/api/v1/namespaces/${namespace}`)).metadata.labels?.['namespace.cozystack.io/host'] === hosts[namespace]);
  }

  async #tenant(namespace: string, name: string, spec: object): Promise<void> {
    await this.post(`/apis/apps.cozystack.io/v1alpha1/namespaces/${namespace}/tenants`, { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { name }, spec });
  }
}

/** What is held by a finalizer and, if a uid is given, owned by ConfigMap `owner`. */
const objectOf = ({ group, version, kind }: Resource, spec: object, owner?: string): object => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name: 'kept', finalizers: ['example.org/held'], ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner }] }) },
  spec,
});

/** A definition that takes anything: of what Cozystack has, and of what Gateway API had. */
const standIn = ({ group, version, plural, kind }: Resource): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // The group x-k8s.io is Kubernetes' own, which wants to be told of a review.
  metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' } },
  spec: {
    group, scope: kind === 'Package' ? 'Cluster' : 'Namespaced', names: { plural, kind },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } } }],
  },
});

/** What became of it, told in the terms of the expected verdict. */
const outcomeOf = (answer: Answer, expected: Verdict): Verdict => {
  if (answer.status < 300) return 'allowed';
  const { code, message } = answer.json<{ code: number; message: string }>();
  const [, policy, binding, says] = /is forbidden: ValidatingAdmissionPolicy '(.*?)' with binding '(.*?)' denied request: (.*)$/.exec(message) ?? [];
  if (policy !== undefined && code === 403) return { policy, ...(expected !== 'allowed' && 'binding' in expected && expected.binding && { binding }), says: says! };
  return { code, says: expected !== 'allowed' && 'code' in expected && message.includes(expected.says) ? expected.says : message };
};
