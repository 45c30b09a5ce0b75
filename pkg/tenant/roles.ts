import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { PolicyRule } from '../controller/permissions.ts';
import { accessLevels, roleOf, serviceAccountRole, type AccessLevel } from './access-levels.ts';

const read = ['get', 'list', 'watch'];
const write = ['create', 'update', 'patch', 'delete'];
const core = ['pods', 'services', 'persistentvolumes', 'endpoints', 'events'];
const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({ apiGroups: [group], resources, verbs });

/** What Cozystack's API server serves in apps.cozystack.io and an admin may make; tenants and modules are for super-admins. */
const applications = [
  'buckets', 'clickhouses', 'foundationdbs', 'harbors', 'httpcaches', 'infos', 'kafkas', 'kuberneteses', 'kubernetesnodeses', 'mariadbs', 'mongodbs', 'natses', 'openbaos', 'opensearches', 'postgreses',
  'qdrants', 'rabbitmqs', 'redises', 'seaweedfses', 'tcpbalancers', 'virtualprivateclouds', 'vmdisks', 'vminstances', 'vpns',
];

const seen: readonly PolicyRule[] = [
  rule('', [...core, 'resourcequotas'], read),
  rule('discovery.k8s.io', ['endpointslices'], read),
  rule('networking.k8s.io', ['ingresses'], read),
  rule('rbac.authorization.k8s.io', ['roles'], ['get']),
  rule('apps.cozystack.io', ['*'], read),
  // Whoever writes these chooses the names that a gateway serves: that is for the loop and for trusted people.
  rule('gateway.cozystack.io', ['tenantgateways'], read),
  rule('sdn.cozystack.io', ['securitygroups'], read),
  rule('cozystack.io', ['workloadmonitors', 'workloads'], read),
];

const rulesOf: Readonly<Record<AccessLevel, readonly PolicyRule[]>> = {
  view: [...seen, rule('core.cozystack.io', ['options'], read)],
  use: [
    rule('subresources.kubevirt.io', ['virtualmachineinstances/console', 'virtualmachineinstances/vnc'], ['get', 'list']),
    rule('subresources.kubevirt.io', ['virtualmachineinstances/portforward'], ['get', 'update']),
    rule('subresources.kubevirt.io', ['virtualmachines/start', 'virtualmachines/stop', 'virtualmachines/restart'], ['update']),
    rule('core.cozystack.io', ['tenantmodules', 'tenantsecrets'], read),
  ],
  admin: [
    rule('', core, ['delete']),
    rule('kubevirt.io', ['virtualmachines'], ['get', 'list']),
    rule('apps.cozystack.io', applications, write),
    rule('sdn.cozystack.io', ['securitygroups'], write),
  ],
  'super-admin': [
    rule('kubevirt.io', ['virtualmachines'], ['*']),
    rule('apps.cozystack.io', ['*'], ['*']),
    // An owner chooses members. The kube-apiserver lets nobody bind what he does not have there himself.
    rule('rbac.authorization.k8s.io', ['rolebindings'], [...read, ...write]),
  ],
};

const rbac = 'rbac.authorization.k8s.io';
const aggregation = (role: string): Record<string, string> => ({ [`rbac.cozystack.io/aggregate-to-${role.replace('cozy:', '').replace(':', '-')}`]: 'true' });

const clusterRole = (name: string, labels: Record<string, string>, content: object): KubeObject => ({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name, labels }, ...content });
const aggregated = (name: string, labels: Record<string, string> = {}): KubeObject =>
  clusterRole(name, labels, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregation(name) }] } });
const leaf = (into: string, rules: readonly PolicyRule[]): KubeObject => clusterRole(`${into}:base`, aggregation(into), { rules });

/** The ClusterRoles that tenants' bindings name. Each is put together by label, so that what is installed besides adds its own; each level has all of the level before. */
export const tenantClusterRoles: readonly KubeObject[] = [
  aggregated(serviceAccountRole),
  leaf(serviceAccountRole, [...seen, rule('core.cozystack.io', ['tenantmodules', 'tenantsecrets', 'options'], read)]),
  ...accessLevels.flatMap((level, index) => {
    const higher = accessLevels.slice(index + 1).map((each) => aggregation(roleOf(each)));
    return [aggregated(roleOf(level), Object.assign({}, ...higher)), leaf(roleOf(level), rulesOf[level])];
  }),
];
