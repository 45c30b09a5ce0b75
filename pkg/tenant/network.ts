import { part, type Part, type PartContext } from './part.ts';
import type { Surroundings } from './observed.ts';

/** Namespaces of the platform that every tenant may call. */
export const openPlatformNamespaces = { dashboard: 'cozy-dashboard', 'linstor-gui': 'cozy-linstor', keycloak: 'cozy-keycloak', 'grafana-dashboards': 'cozy-grafana-operator', 'cdi-upload-proxy': 'cozy-kubevirt-cdi' } as const;

/** Labels of pods that have a part in the rules. */
export const podLabels = {
  etcd: { 'app.kubernetes.io/instance': 'etcd' },
  vminsert: { 'app.kubernetes.io/name': 'vminsert' },
  vmagent: { 'app.kubernetes.io/name': 'vmagent' },
  ingress: { 'cozystack.io/service': 'ingress' },
  etcdService: { 'cozystack.io/service': 'etcd' },
  toEtcd: { 'policy.cozystack.io/allow-to-etcd': 'true' },
  toApiServer: { 'policy.cozystack.io/allow-to-apiserver': 'true' },
  dns: { 'k8s-app': 'kube-dns' },
  virtHandler: { 'kubevirt.io': 'virt-handler' },
} as const;
/** On all pods of a Gateway's proxy (Gateway API, GEP-1762). */
const gatewayPodLabel = 'gateway.networking.k8s.io/gateway-name';

const inNamespaces = (...values: string[]) => ({ namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }] } });
const labelled = (matchLabels: Record<string, string>) => ({ namespaceSelector: { matchLabels } });
const pods = (matchLabels: Record<string, string>) => ({ podSelector: { matchLabels } });
const gatewayPods = { podSelector: { matchExpressions: [{ key: gatewayPodLabel, operator: 'Exists' }] } };

const isVersion6 = (address: string): boolean => address.includes(':');
const addressBlock = (address: string) => ({ ipBlock: { cidr: `${address}/${isVersion6(address) ? 128 : 32}` } });

/** Everything outside of the cluster. A CNI may count pods' addresses in a block, so that those are taken out of it. */
const outsideWorld = (internalNetworks: readonly string[]) =>
  ['0.0.0.0/0', '::/0'].map((cidr) => {
    const except = internalNetworks.filter((network) => isVersion6(network) === isVersion6(cidr));
    return { ipBlock: { cidr, ...(except.length > 0 && { except }) } };
  });

/**
 * networking.k8s.io/v1 policies that keep tenants apart. Each tenant's pods refuse what comes from beside them, whatever the sender is
 * allowed to send; they take from above, from the platform and from outside, and reach down, and above only what is shared.
 */
export const networkParts = (context: PartContext, { apiServer, settings }: Surroundings): Part[] => {
  const { namespace, ancestors, inherited } = context;
  const own = namespace.metadata.name!;
  const world = outsideWorld(settings.internalNetworks);
  const apiServers = apiServer.addresses.map(addressBlock);
  const policy = (name: string, podSelector: object, rules: { ingress: object[] } | { egress: object[] }): Part =>
    part('networkPolicy', context, name, { spec: { podSelector, policyTypes: 'ingress' in rules ? ['Ingress'] : ['Egress'], ...rules } });
  const everyPod = {};
  const above = ancestors.length > 0 ? inNamespaces(...ancestors) : undefined;

  const from = [{ podSelector: {} }, ...(above ? [above] : []), labelled({ 'cozystack.io/system': 'true' }), inNamespaces('kube-system'), ...apiServers, ...world];
  const shared = [pods(podLabels.vminsert), pods(podLabels.etcd), pods(podLabels.ingress), gatewayPods];
  const to = [
    { podSelector: {} },
    labelled({ [`tenant.cozystack.io/${own}`]: '' }),
    ...(above ? shared.map((selected) => ({ ...above, ...selected })) : []),
    { ...inNamespaces('kube-system'), ...pods(podLabels.dns) },
    inNamespaces(...Object.values(openPlatformNamespaces)),
    ...world,
  ];
  return [
    policy('tenant-ingress', everyPod, { ingress: [{ from }] }),
    policy('tenant-egress', everyPod, { egress: [{ to }] }),
    ...(apiServers.length > 0 && apiServer.ports.length > 0 // a rule without ports would open all
      ? [policy('allow-to-apiserver', pods(podLabels.toApiServer).podSelector, { egress: [{ to: apiServers, ports: apiServer.ports.map((port) => ({ protocol: 'TCP', port })) }] })]
      : []),
    ...(inherited.ingress === own ? [policy('tenant-ingress-controller', pods(podLabels.ingress).podSelector, { ingress: [{}] })] : []),
    ...(inherited.gateway === own ? [policy('tenant-gateway', gatewayPods.podSelector, { ingress: [{}] })] : []),
    ...(inherited.etcd === own
      ? [policy('tenant-etcd', pods(podLabels.etcdService).podSelector, { ingress: [{ from: [{ ...labelled({ 'namespace.cozystack.io/etcd': own }), ...pods(podLabels.toEtcd) }] }] })]
      : []),
    ...(inherited.monitoring === own
      ? [
          policy('tenant-monitoring', pods(podLabels.vminsert).podSelector, { ingress: [{ from: [labelled({ 'namespace.cozystack.io/monitoring': own })] }] }),
          policy('tenant-monitoring-agent', pods(podLabels.vmagent).podSelector, {
            egress: [{ to: [{ ...inNamespaces('cozy-kubevirt'), ...pods(podLabels.virtHandler) }], ports: [{ protocol: 'TCP', port: 8443 }] }],
          }),
        ]
      : []),
  ];
};
