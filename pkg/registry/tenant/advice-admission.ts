import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import { hasCode } from '../../kube/status-error.ts';
import { zero } from '../../quantity/quantity.ts';
import { inheritAlong, normalHost } from '../../tenant/inheritance.ts';
import { askedFor } from '../../tenant/modules.ts';
import { namespaceOf, tenantOf } from '../../tenant/names.ts';
import { nodeOf } from '../../tenant/observe.ts';
import { partResources } from '../../tenant/part.ts';
import type { AdmissionEnvironment, KindAdmission } from '../strategy.ts';
import { adviceOn } from './advice.ts';
import { TenantTree } from './tree.ts';

/** How long it is taken for granted whether the cluster has an API. */
const knownForMs = 60_000;

/** Warns of what is legal but likely wrong. It never refuses: what cannot be known is not warned of. */
export const adviceAdmission = ({ client, store, useOf }: Pick<AdmissionEnvironment, 'client' | 'store' | 'useOf'>): KindAdmission => {
  const tree = new TenantTree(store);
  let modules: { served: Promise<boolean>; until: number } | undefined;
  const hasModules = (): Promise<boolean> => {
    if (!modules || modules.until < performance.now()) modules = { served: isServed(client, partResources.module.apiVersion), until: performance.now() + knownForMs };
    return modules.served;
  };
  return {
    name: 'TenantAdvice',
    // In the namespace of no tenant nothing is made, so that nothing can go wrong.
    handles: ({ operation, subresource, namespace }) => operation !== 'DELETE' && subresource === '' && tree.complete && tenantOf(namespace) !== undefined,
    validate: async ({ object, oldObject, namespace, name, warn }) => {
      const [tenant, old] = [object, oldObject] as unknown as [Tenant, Tenant | undefined];
      if (tenant.metadata.deletionTimestamp) return;
      const named = { ...tenant, metadata: { ...tenant.metadata, namespace, name } };
      const advice = adviceOn(named, old, {
        above: inheritAlong(tree.lineOf(namespace).map(nodeOf).toReversed()),
        sameHost: othersWithHost(tree, named, old),
        children: () => tree.in(namespaceOf(namespace, name)).length,
        hasModules: askedFor(tenant.spec).length === 0 || (await hasModules()),
        useOf: (place, resource) => {
          try {
            return useOf(place, resource);
          } catch {
            return zero; // not all quotas were seen yet
          }
        },
      });
      for (const text of advice) warn(text);
    },
  };
};

/** Looked for only where the host is new: that takes a look at all tenants. */
const othersWithHost = (tree: TenantTree, { metadata, spec }: Tenant, old: Tenant | undefined): string[] => {
  const host = normalHost(spec?.host);
  if (host === '' || host === normalHost(old?.spec?.host)) return [];
  const others: string[] = [];
  for (const other of tree.all()) {
    const isSelf = other.metadata.namespace === metadata.namespace && other.metadata.name === metadata.name;
    if (!isSelf && normalHost(other.spec?.host) === host) others.push(`${other.metadata.namespace}/${other.metadata.name}`);
  }
  return others;
};

const isServed = async (client: AdmissionEnvironment['client'], apiVersion: string): Promise<boolean> => {
  try {
    await client.json({ path: `/apis/${apiVersion}` });
    return true;
  } catch (error) {
    return !hasCode(error, 404);
  }
};
