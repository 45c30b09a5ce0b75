import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import { ciliumParts } from './cilium.ts';
import { bareSurroundings } from './fake-cluster.ts';
import { inheritAlong } from './inheritance.ts';
import { lineageOf, tenantOf } from './names.ts';
import { namespaceFor } from './namespace.ts';
import { networkParts } from './network.ts';
import type { Part, PartContext } from './part.ts';
import type { Surroundings } from './observed.ts';

type Labels = Record<string, string>;
interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: number }[];
}
interface Policy {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

const surroundings: Surroundings = { ...bareSurroundings, apiServer: { addresses: ['10.0.0.10'], ports: [6443] } };
type Tree = Readonly<Record<string, TenantSpec>>;

const contextOf = (tree: Tree, namespace: string): PartContext => {
  const lineage = lineageOf(namespace);
  const inherited = inheritAlong(lineage.map((each) => ({ name: tenantOf(each)!.name, namespace: each, spec: tree[each] ?? {} })));
  const spec = tree[namespace] ?? {};
  return {
    tenant: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { ...tenantOf(namespace)!, uid: namespace }, spec },
    namespace: namespaceFor(namespace, namespace, inherited, surroundings.settings, undefined),
    ancestors: lineage.slice(0, -1),
    inherited,
  };
};

/** A pod of a tenant, of another namespace, or an address outside of both. */
interface Place {
  namespace?: string;
  labels?: Labels;
  namespaceLabels?: Labels;
  address?: string;
}

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => (operator === 'Exists' ? key in labels : values.includes(labels[key] ?? '')));

const isIn = (address: string, cidr: string): boolean => {
  const [network, bits] = cidr.split('/') as [string, string];
  const family = network.includes(':') ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return family === (address.includes(':') ? 'ipv6' : 'ipv4') && list.check(address, family);
};

/** As much of the rules of NetworkPolicy as the policies make use of. Blocks hold pods' addresses too, as they do with some CNIs. */
const reaches = (tree: Tree, from: Place, to: Place, port = 80): boolean => {
  const labelsOf = ({ namespace, namespaceLabels }: Place): Labels => ({
    ...(namespace && namespace in tree ? contextOf(tree, namespace).namespace.metadata.labels : namespaceLabels),
    'kubernetes.io/metadata.name': namespace ?? '',
  });
  const matches = ({ podSelector, namespaceSelector, ipBlock }: Peer, self: Place, other: Place): boolean => {
    const address = other.address ?? '10.244.1.1';
    if (ipBlock) return isIn(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((except) => isIn(address, except));
    if (!other.namespace) return false;
    return (namespaceSelector ? selects(namespaceSelector, labelsOf(other)) : other.namespace === self.namespace) && (!podSelector || selects(podSelector, other.labels ?? {}));
  };
  const allowed = (self: Place, other: Place, direction: 'ingress' | 'egress'): boolean => {
    if (!self.namespace || !(self.namespace in tree)) return true; // nothing of ours holds it back
    const policies = networkParts(contextOf(tree, self.namespace), surroundings).map(({ desired }) => desired['spec'] as Policy);
    const type = direction === 'ingress' ? 'Ingress' : 'Egress';
    const about = policies.filter(({ policyTypes, podSelector }) => policyTypes.includes(type) && selects(podSelector, self.labels ?? {}));
    return about.some((policy) =>
      (policy[direction] ?? []).some((rule) => {
        const peers = direction === 'ingress' ? rule.from : rule.to;
        return (!rule.ports || rule.ports.some((each) => each.port === port)) && (!peers || peers.some((peer) => matches(peer, self, other)));
      }),
    );
  };
  return allowed(from, to, 'egress') && allowed(to, from, 'ingress');
};

const tree: Tree = {
  'tenant-root': { host: 'example.org', etcd: true, monitoring: true, ingress: true },
  'tenant-a': { gateway: true },
  'tenant-a-b': {},
  'tenant-a-b-c': {},
  'tenant-d': { etcd: true },
};
const pod = (namespace: string, labels: Labels = {}): Place => ({ namespace, labels });
const outside: Place = { address: '203.0.113.7' };
const system: Place = { namespace: 'cozy-monitoring', namespaceLabels: { 'cozystack.io/system': 'true' } };
const toEtcd = { 'policy.cozystack.io/allow-to-etcd': 'true' };
const etcd = { 'cozystack.io/service': 'etcd', 'app.kubernetes.io/instance': 'etcd' };
const vminsert = { 'app.kubernetes.io/name': 'vminsert' };
const ingress = { 'cozystack.io/service': 'ingress' };
const apiServer: Place = { address: '10.0.0.10' };

describe("tenants' network", () => {
  for (const { what, from, to, port, passes } of [
    { what: 'pods of one tenant reach each other', from: pod('tenant-a'), to: pod('tenant-a'), passes: true },
    { what: 'a tenant does not reach its sibling', from: pod('tenant-a'), to: pod('tenant-d'), passes: false },
    { what: "nor what is below its sibling", from: pod('tenant-d'), to: pod('tenant-a-b'), passes: false },
    { what: 'a tenant reaches those below it', from: pod('tenant-a'), to: pod('tenant-a-b-c'), passes: true },
    { what: 'and none above it', from: pod('tenant-a-b'), to: pod('tenant-a'), passes: false },
    { what: 'a pod of a namespace of nobody does not reach a tenant', from: pod('default'), to: pod('tenant-a'), passes: false },
    { what: 'the outside world reaches a tenant', from: outside, to: pod('tenant-a'), passes: true },
    { what: 'and a tenant the outside world', from: pod('tenant-a'), to: outside, passes: true },
    { what: 'the address of the cloud is not outside', from: pod('tenant-a'), to: { address: '169.254.169.254' }, passes: false },
    { what: 'the platform reaches a tenant', from: system, to: pod('tenant-a'), passes: true },
    { what: 'the kube-apiserver reaches a tenant', from: apiServer, to: pod('tenant-a'), passes: true },
    { what: 'a tenant reaches DNS', from: pod('tenant-a-b'), to: pod('kube-system', { 'k8s-app': 'kube-dns' }), port: 53, passes: true },
    { what: 'and nothing else of kube-system', from: pod('tenant-a-b'), to: pod('kube-system'), passes: false },
    { what: 'a tenant reaches the dashboard', from: pod('tenant-a-b'), to: pod('cozy-dashboard'), passes: true },
    { what: "a tenant two levels down reaches root's vminsert, which it inherits", from: pod('tenant-a-b'), to: pod('tenant-root', vminsert), passes: true },
    { what: "a tenant two levels down reaches root's etcd, which it inherits", from: pod('tenant-a-b', toEtcd), to: pod('tenant-root', etcd), passes: true },
    { what: "but not without the pod's label", from: pod('tenant-a-b'), to: pod('tenant-root', etcd), passes: false },
    { what: 'nor with an etcd of its own', from: pod('tenant-d', toEtcd), to: pod('tenant-root', etcd), passes: false },
    { what: "root's ingress, two levels up, is reached", from: pod('tenant-a-b'), to: pod('tenant-root', ingress), passes: true },
    { what: "and reaches what it serves", from: pod('tenant-root', ingress), to: pod('tenant-a-b'), passes: true },
    { what: 'the gateway above is reached', from: pod('tenant-a-b'), to: pod('tenant-a', { 'gateway.networking.k8s.io/gateway-name': 'cozystack' }), passes: true },
    { what: 'a labelled pod reaches the kube-apiserver', from: pod('tenant-a', { 'policy.cozystack.io/allow-to-apiserver': 'true' }), to: apiServer, port: 6443, passes: true },
    { what: 'and no other address at its port', from: pod('tenant-a', { 'policy.cozystack.io/allow-to-apiserver': 'true' }), to: { address: '10.0.0.11' }, port: 6443, passes: false },
    { what: 'and no other port of it', from: pod('tenant-a', { 'policy.cozystack.io/allow-to-apiserver': 'true' }), to: apiServer, port: 22, passes: false },
    { what: 'a pod without the label does not', from: pod('tenant-a'), to: apiServer, port: 6443, passes: false },
  ]) it(what, () => assert.equal(reaches(tree, from, to, port), passes));

  it("a sibling whose own policies are gone still does not get in: isolation rests on the receiver's side too", () => {
    const { 'tenant-d': _open, ...others } = tree;
    assert.equal(reaches(others, pod('tenant-d'), pod('tenant-a')), false);
  });

  it('never lets in a pod of a tenant that is not above, in any tree, by whatever labels', () => {
    const word = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `tenant-${words.join('-')}`);
    const spec = fc.record({ etcd: fc.boolean(), monitoring: fc.boolean(), ingress: fc.boolean(), gateway: fc.boolean() });
    const labels = fc.constantFrom<Labels>({}, toEtcd, etcd, vminsert, { 'app.kubernetes.io/name': 'vmagent' }, { 'policy.cozystack.io/allow-to-apiserver': 'true' });
    fc.assert(
      fc.property(path, path, spec, spec, labels, (one, other, oneSpec, otherSpec, fromLabels) => {
        const lineages = [one, other].flatMap(lineageOf);
        const grown: Tree = { ...Object.fromEntries(lineages.map((namespace) => [namespace, {}])), [one]: oneSpec, [other]: otherSpec };
        const isAbove = lineageOf(other).includes(one);
        assert.equal(reaches(grown, pod(one, fromLabels), pod(other)), isAbove);
      }),
    );
  });

  it('root carries the labels that its own policies select by', () => {
    const { labels } = contextOf(tree, 'tenant-root').namespace.metadata;
    assert.deepEqual([labels!['namespace.cozystack.io/etcd'], labels!['tenant.cozystack.io/tenant-root']], ['tenant-root', '']);
    assert.equal(reaches(tree, pod('tenant-root', toEtcd), pod('tenant-root', etcd)), true);
  });
});

describe("tenants' network, in Cilium's words", () => {
  const parts = ciliumParts(contextOf({ ...tree, 'tenant-a-b': { ingress: true, etcd: true, monitoring: true } }, 'tenant-a-b'));
  const named = (name: string): Part => parts.find(({ desired }) => desired.metadata.name === name)!;
  const text = JSON.stringify(parts.map(({ desired }) => desired['spec']));

  it("has Cozystack's names", () =>
    assert.deepEqual(
      parts.map(({ what, desired }) => `${what === 'ciliumPolicy' ? desired.metadata.namespace : '*'} ${desired.metadata.name}`).toSorted(),
      [
        ...['egress', 'egress-virt-handler', 'ingress', 'ingress-etcd', 'ingress-ingress', 'ingress-monitoring'].map((suffix) => `* tenant-a-b-${suffix}`),
        ...['apiserver', 'cdi-upload-proxy', 'dashboard', 'dns', 'grafana-dashboards', 'ingress', 'keycloak', 'linstor-gui'].map((place) => `tenant-a-b allow-to-${place}`),
        'tenant-a-b allow-external-communication',
        'tenant-a-b allow-internal-communication',
      ].toSorted(),
    ));

  it('lets nobody in for being in the cluster', () => assert.ok(!text.includes('"cluster"') && !text.includes('"all"')));

  it('opens no way to the port of the kube-apiserver at any other address', () => assert.ok(!text.includes('6443')));

  it('reaches modules of root from two levels down', () => {
    const { egress } = named('tenant-a-b-egress').desired['spec'] as { egress: { toEndpoints: { matchLabels: Labels }[] }[] };
    const places = egress.slice(1).map(({ toEndpoints }) => toEndpoints.map(({ matchLabels }) => matchLabels['k8s:io.kubernetes.pod.namespace']));
    assert.deepEqual(places, Array.from({ length: 3 }, () => ['tenant-root', 'tenant-a']));
  });

  it('belongs to the namespace, also where it is of the whole cluster', () => {
    for (const { desired } of parts) assert.deepEqual(desired.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]), [['Namespace', 'tenant-a-b']]);
  });
});
