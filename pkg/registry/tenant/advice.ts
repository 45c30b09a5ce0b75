import type { Tenant, TenantSpec } from '../../../api/apps/v1alpha1/tenant.ts';
import { exceeds, formatQuantity, type Quantity } from '../../quantity/quantity.ts';
import { inherit, normalHost, nothing, type Inherited } from '../../tenant/inheritance.ts';
import { deletionPolicyAnnotation, isCascading } from '../../tenant/marks.ts';
import { askedFor } from '../../tenant/modules.ts';
import { isRoot, namespaceOf } from '../../tenant/names.ts';
import { nodeOf } from '../../tenant/observe.ts';
import { keysOf, limitsOf, quotasOf } from '../../tenant/quota/budget.ts';
import { quotaField } from './quotas.ts';

/** What a choice is held against. */
export interface AroundTenant {
  /** What the tenant above has. */
  above: Inherited;
  /** `namespace/name` of other tenants with the same spec.host. */
  sameHost: readonly string[];
  /** Number of tenants directly below; asked for where it is told. */
  children: () => number;
  /** Whether the cluster has what modules are made of. */
  hasModules: boolean;
  useOf: (namespace: string, resource: string) => Quantity;
}

/** What is legal but likely wrong in what changes of a tenant, in words for whoever changes it. Pure. */
export const adviceOn = (tenant: Tenant, old: Tenant | undefined, around: AroundTenant): string[] => {
  const { namespace, name } = tenant.metadata as { namespace: string; name: string };
  const above = isRoot(namespace, name) ? nothing : around.above;
  return [...ofHost(tenant, old, above, around), ...ofModules(tenant, old, around), ...ofQuotas(tenant, old, around), ...ofIgnored(tenant, old, above), ...ofDeletion(tenant, old, around)];
};

const changed = <K extends keyof TenantSpec>({ spec }: Tenant, old: Tenant | undefined, field: K): TenantSpec[K] | undefined => (spec?.[field] === old?.spec?.[field] ? undefined : spec?.[field]);

const ofHost = (tenant: Tenant, old: Tenant | undefined, above: Inherited, { sameHost }: AroundTenant): string[] => {
  const host = normalHost(changed(tenant, old, 'host'));
  const { host: effective, hostFault } = inherit(nodeOf(tenant), above);
  return [
    ...(host && above.host && host !== above.host && !host.endsWith(`.${above.host}`)
      ? [`spec.host: ${JSON.stringify(host)} is not below ${JSON.stringify(above.host)}, the host of the tenant above; its DNS records have to be made apart, and no wildcard certificate of the tenant above covers it`]
      : []),
    ...(host && sameHost.length > 0 ? [`spec.host: ${JSON.stringify(host)} is the host of tenant ${sameHost.join(', ')} as well; both claim the same names`] : []),
    ...(host === '' && hostFault && !old ? [`metadata.name: the ${hostFault}`] : []),
    ...(changed(tenant, old, 'gateway') && !effective && !hostFault ? ['spec.gateway: there is no host to serve, here or above; the gateway is made once spec.host is set'] : []),
  ];
};

const ofModules = (tenant: Tenant, old: Tenant | undefined, { hasModules }: AroundTenant): string[] => {
  const before = askedFor(old?.spec);
  const asked = hasModules ? [] : askedFor(tenant.spec).filter((module) => !before.includes(module));
  return asked.map((module) => `spec.${module}: nothing here can provide it, and the tenant is not Ready until something can: install Flux and Cozystack's packages, or set it to false`);
};

const ofQuotas = (tenant: Tenant, old: Tenant | undefined, { useOf }: AroundTenant): string[] => {
  const own = namespaceOf(tenant.metadata.namespace!, tenant.metadata.name!);
  const quotas = quotasOf(tenant);
  const keys = keysOf(quotas);
  const before = limitsOf(old ? quotasOf(old) : {});
  return Array.from(limitsOf(quotas)).flatMap(([resource, limit]) => {
    if (before.get(resource)?.nano === limit.nano) return [];
    const used = useOf(own, resource);
    return exceeds(used, limit) ? [`${quotaField(keys.get(resource) ?? resource)}: ${formatQuantity(limit)} is less than the ${formatQuantity(used)} in use; what runs goes on, and nothing new starts`] : [];
  });
};

const ofIgnored = (tenant: Tenant, old: Tenant | undefined, above: Inherited): string[] => {
  const schedulingClass = changed(tenant, old, 'schedulingClass');
  return [
    ...(schedulingClass && above.schedulingClass && schedulingClass !== above.schedulingClass
      ? [`spec.schedulingClass: ${JSON.stringify(schedulingClass)} has no effect, since a tenant above has ${JSON.stringify(above.schedulingClass)}`]
      : []),
    ...(changed(tenant, old, 'isolated') === undefined ? [] : ['spec.isolated has no effect: every tenant is isolated']),
  ];
};

const ofDeletion = (tenant: Tenant, old: Tenant | undefined, { children }: AroundTenant): string[] =>
  isCascading(tenant) && !(old && isCascading(old)) ? [`metadata.annotations[${deletionPolicyAnnotation}]: whoever deletes this tenant deletes all tenants below it, of which there are ${children()} directly below`] : [];
