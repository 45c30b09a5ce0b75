import type { TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import type { Verdict } from '../controller/conditions.ts';
import { part, partResources, type Part, type PartContext, type PartKind } from './part.ts';
import { valuesName } from './values.ts';

interface Module {
  kind: string;
  chart: string;
  timeout: string;
  /** Needs the operator of VictoriaMetrics. */
  metrics?: boolean;
  /** Is tried again as it is, since its removal would run hooks that destroy. */
  retries?: boolean;
}

/** Cozystack's modules, by the flag of the Tenant that asks for one. The gateway is none of them here: the loop makes it itself. */
const modules = {
  etcd: { kind: 'Etcd', chart: 'cozystack-etcd-application-default-etcd', timeout: '30m', metrics: true, retries: true },
  ingress: { kind: 'Ingress', chart: 'cozystack-ingress-application-default-ingress', timeout: '10m', metrics: true },
  monitoring: { kind: 'Monitoring', chart: 'cozystack-monitoring-application-default-monitoring', timeout: '10m', metrics: true, retries: true },
  seaweedfs: { kind: 'SeaweedFS', chart: 'cozystack-seaweedfs-application-default-seaweedfs', timeout: '10m', retries: true },
  computeplane: { kind: 'ComputePlane', chart: 'cozystack-computeplane-application-kubevirt-computeplane', timeout: '10m' },
} as const satisfies Partial<Record<keyof TenantSpec, Module>>;
/** Shows a tenant's people how to get in; every tenant has it. */
const info: Module = { kind: 'Info', chart: 'cozystack-info-application-default-info', timeout: '10m' };

const askedFor = (spec: TenantSpec = {}): (keyof typeof modules)[] => (Object.keys(modules) as (keyof typeof modules)[]).filter((name) => spec[name] === true);

/** HelmReleases of the modules that a tenant has of its own. */
export const moduleParts = (context: PartContext): Part[] => [
  release(context, 'info', info),
  ...askedFor(context.tenant.spec).map((name) => release(context, name, modules[name])),
];

const release = (context: PartContext, name: string, { kind, chart, timeout, metrics, retries }: Module): Part => {
  const strategy = retries && { strategy: { name: 'RetryOnFailure', retryInterval: '30s' } };
  const remedy = { remediation: { retries: -1 }, ...strategy };
  const spec = {
    chartRef: { kind: 'ExternalArtifact', namespace: 'cozy-system', name: chart },
    interval: '5m',
    timeout,
    valuesFrom: [{ kind: 'Secret', name: valuesName }],
    install: remedy,
    upgrade: remedy,
    ...(metrics && { dependsOn: [{ name: 'victoria-metrics-operator', namespace: 'cozy-victoria-metrics-operator' }] }),
  };
  const labels = {
    'sharding.fluxcd.io/key': 'tenants',
    'internal.cozystack.io/tenantmodule': 'true',
    'app.kubernetes.io/instance': `tenant-${context.tenant.metadata.name}`,
    'apps.cozystack.io/application.kind': kind,
    'apps.cozystack.io/application.group': 'apps.cozystack.io',
    'apps.cozystack.io/application.name': name,
  };
  return part('module', context, name, { spec }, { labels });
};

/** Whether what a tenant asks for can be provided; undefined where it asks for nothing. */
export const modulesVerdict = ({ tenant }: Pick<PartContext, 'tenant'>, missing: ReadonlySet<PartKind>): Verdict | undefined => {
  const names = askedFor(tenant.spec);
  if (names.length === 0) return undefined;
  const { apiVersion, plural } = partResources.module;
  const asked = names.join(', ');
  return missing.has('module')
    ? { type: 'ModulesAvailable', status: 'False', reason: 'ApiMissing', message: `Nothing can provide ${asked}: the cluster does not have ${apiVersion} (${plural}); install Flux and Cozystack's packages, or set these flags to false` }
    : { type: 'ModulesAvailable', status: 'True', reason: 'Requested', message: `HelmReleases ask for ${asked}; they tell what became of it` };
};
