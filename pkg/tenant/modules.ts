import type { Tenant, TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { conditionOf, type Verdict } from '../controller/conditions.ts';
import { namespaceOf } from './names.ts';
import { part, partKey, partResources, type Part, type PartContext, type PartKind } from './part.ts';
import { valuesName } from './values.ts';

/** Tells modules' HelmReleases from applications'. */
const moduleLabel = 'internal.cozystack.io/tenantmodule';
/** On the HelmReleases of both; its value is the kind of the application. */
export const applicationLabel = 'apps.cozystack.io/application.kind';

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

/** The modules that a tenant is to have of its own, by their flags. */
export const askedFor = (spec: TenantSpec = {}): (keyof typeof modules)[] => (Object.keys(modules) as (keyof typeof modules)[]).filter((name) => spec[name] === true);

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
    [moduleLabel]: 'true',
    'app.kubernetes.io/instance': `tenant-${context.tenant.metadata.name}`,
    [applicationLabel]: kind,
    'apps.cozystack.io/application.group': 'apps.cozystack.io',
    'apps.cozystack.io/application.name': name,
  };
  return part('module', context, name, { spec }, { labels });
};

/** Whether a HelmRelease is of a module, and no application. */
export const isModule = ({ metadata: { labels } }: KubeObject): boolean => labels?.[moduleLabel] === 'true';

/** What is known of what a tenant asks for. */
export interface ModulesSeen {
  tenant: Tenant;
  /** By partKey. */
  made: ReadonlyMap<string, { object: KubeObject }>;
  surroundings: { missing: ReadonlySet<PartKind> };
}

/** Whether a tenant has the modules that it asks for; undefined where it asks for none. */
export const modulesVerdict = ({ tenant, made, surroundings }: ModulesSeen): Verdict | undefined => {
  const names = askedFor(tenant.spec);
  if (names.length === 0) return undefined;
  const type = 'ModulesAvailable';
  const { apiVersion, plural } = partResources.module;
  if (surroundings.missing.has('module'))
    return { type, status: 'False', reason: 'ModulesUnavailable', message: `Nothing can provide ${names.join(', ')}: the cluster does not have ${apiVersion} (${plural}); install Flux and Cozystack's packages, or set these flags to false` };
  const namespace = namespaceOf(tenant.metadata.namespace!, tenant.metadata.name!);
  const faults = names.flatMap((name) => releaseFault(name, made.get(partKey('module', { apiVersion, kind: '', metadata: { namespace, name } }))?.object) ?? []);
  return faults.length > 0
    ? { type, status: 'False', reason: 'ModulesNotReady', message: `Not there yet: ${faults.join('; ')}` }
    : { type, status: 'True', reason: 'Ready', message: `Has ${names.join(', ')}` };
};

/** `status` of a helm.toolkit.fluxcd.io/v2 HelmRelease, as far as it is looked at. */
interface ReleaseStatus {
  conditions?: { type: string; status: string; message?: string; observedGeneration?: number }[];
}

const releaseFault = (name: string, release: KubeObject | undefined): string | undefined => {
  const ready = readyOf(release);
  const behind = ready?.observedGeneration !== undefined && ready.observedGeneration < (release?.metadata.generation ?? 0);
  if (!ready || behind) return `${name} (its HelmRelease waits for Flux)`;
  return ready.status === 'True' ? undefined : `${name} (${ready.message || 'its HelmRelease is not ready'})`;
};

const readyOf = (release: KubeObject | undefined) => conditionOf((release?.['status'] as ReleaseStatus | undefined)?.conditions, 'Ready');

/** Of a HelmRelease's status, what tells whether it is ready. */
export const releaseStatus = (release: KubeObject): ReleaseStatus | undefined => {
  const ready = readyOf(release);
  return ready && { conditions: [{ type: ready.type, status: ready.status, message: ready.message, observedGeneration: ready.observedGeneration }] };
};
