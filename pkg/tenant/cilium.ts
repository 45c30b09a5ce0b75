import type { ClusterPolicySuffix } from './collisions.ts';
import { openPlatformNamespaces, podLabels } from './network.ts';
import { part, type Part, type PartContext } from './part.ts';

type Labels = Readonly<Record<string, string>>;

/** Cilium tells where a label comes from; those of policies and services are matched whatever it is. */
const source = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [/^(app\.kubernetes\.io\/|kubevirt\.io$)/.test(key) ? `k8s:${key}` : key, value]));
const inNamespace = (namespace: string, labels: Labels = {}) => ({ matchLabels: { 'k8s:io.kubernetes.pod.namespace': namespace, ...source(labels) } });
const inLabelled = (label: string, value: string, labels: Labels = {}) => ({ matchLabels: { [`k8s:io.cilium.k8s.namespace.labels.${label}`]: value, ...source(labels) } });

/**
 * Cilium's own policies, named as Cozystack's, where Cilium is installed. They add to those of networking.k8s.io what only Cilium can say.
 * Unlike Cozystack's, none lets in the whole cluster (that would leave it to each sender whom it reaches), and the way to the
 * kube-apiserver is not open to any other address.
 */
export const ciliumParts = (context: PartContext): Part[] => {
  const { namespace, ancestors, inherited } = context;
  const own = namespace.metadata.name!;
  const local = (name: string, rules: object, selected: Labels = {}): Part =>
    part('ciliumPolicy', context, name, { spec: { endpointSelector: Object.keys(selected).length > 0 ? { matchLabels: source(selected) } : {}, ...rules } });
  const clusterWide = (suffix: ClusterPolicySuffix, rules: object, selected: Labels = {}): Part =>
    part('ciliumClusterPolicy', context, `${own}-${suffix}`, { spec: { endpointSelector: inNamespace(own, selected), ...rules } }, { place: '' });

  const shared = [podLabels.vminsert, podLabels.etcd, podLabels.ingress];
  const toAbove = shared.map((labels) => ({ toEndpoints: ancestors.map((ancestor) => inNamespace(ancestor, labels)) }));
  const fromAbove = ancestors.map((ancestor) => inNamespace(ancestor));
  return [
    local('allow-internal-communication', { ingress: [{ fromEndpoints: [{}] }], egress: [{ toEndpoints: [{}] }] }),
    local('allow-external-communication', { ingress: [{ fromEntities: ['world', 'ingress', 'host', 'remote-node'] }], egress: [{ toEntities: ['world'] }] }),
    local('allow-to-apiserver', { egress: [{ toEntities: ['kube-apiserver'] }] }, podLabels.toApiServer),
    local('allow-to-dns', { egress: [{ toEndpoints: [inNamespace('kube-system', podLabels.dns)] }] }),
    local('allow-to-ingress', { egress: [{ toEndpoints: [{ matchLabels: podLabels.ingress }] }] }),
    ...Object.entries(openPlatformNamespaces).map(([name, place]) => local(`allow-to-${name}`, { egress: [{ toEndpoints: [inNamespace(place)] }] })),
    clusterWide('egress', { egress: [{ toEndpoints: [inLabelled(`tenant.cozystack.io/${own}`, '')] }, ...(ancestors.length > 0 ? toAbove : [])] }),
    clusterWide('ingress', {
      ingress: [{ fromEntities: ['kube-apiserver'] }, { fromEndpoints: [inLabelled('cozystack.io/system', 'true'), inNamespace('kube-system'), ...fromAbove] }],
    }),
    ...(inherited.ingress === own ? [clusterWide('ingress-ingress', { ingress: [{ fromEndpoints: [{}] }] }, podLabels.ingress)] : []),
    ...(inherited.etcd === own
      ? [clusterWide('ingress-etcd', { ingress: [{ fromEndpoints: [inLabelled('namespace.cozystack.io/etcd', own, podLabels.toEtcd)] }] }, podLabels.etcdService)]
      : []),
    ...(inherited.monitoring === own
      ? [
          clusterWide('ingress-monitoring', { ingress: [{ fromEndpoints: [inLabelled('namespace.cozystack.io/monitoring', own)] }] }, podLabels.vminsert),
          clusterWide('egress-virt-handler', { egress: [{ toEndpoints: [inNamespace('cozy-kubevirt', podLabels.virtHandler)], toPorts: [{ ports: [{ port: '8443', protocol: 'TCP' }] }] }] }, podLabels.vmagent),
        ]
      : []),
  ];
};
