import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { bind } from '../../quantity/bounds.ts';
import { parseQuantity, zero, type Quantity } from '../../quantity/quantity.ts';
import { namespaceOf, tenantOf } from '../names.ts';
import type { Budget } from './budget-tree.ts';
import { keyFault, quantityFault, usedKeyOf } from './keys.ts';

/** `spec.resourceQuotas`, whatever was stored there. */
export const quotasOf = ({ spec }: Pick<KubeObject, 'spec'>): Readonly<Record<string, unknown>> => {
  const quotas = (spec as { resourceQuotas?: unknown } | null | undefined)?.resourceQuotas;
  return typeof quotas === 'object' && quotas !== null && !Array.isArray(quotas) ? (quotas as Record<string, unknown>) : {};
};

/**
 * The limits in `spec.resourceQuotas`, by the key under which a ResourceQuota counts use: `cpu` and `limits.cpu` are one
 * resource, of which the lesser limit holds. What is no quantity, or less than nothing, is nothing.
 */
export const limitsOf = (quotas: Readonly<Record<string, unknown>>): Map<string, Quantity> => {
  const limits = new Map<string, Quantity>();
  for (const [key, value] of Object.entries(quotas)) {
    if (keyFault(key) !== undefined) continue;
    bind(limits, usedKeyOf(key), quantityFault(value) === undefined ? parseQuantity(value as string | number)! : zero);
  }
  return limits;
};

/** The key of `spec.resourceQuotas` that bounds each resource, the first where two do. */
export const keysOf = (quotas: Readonly<Record<string, unknown>>): Map<string, string> => new Map(Object.keys(quotas).toReversed().map((key) => [usedKeyOf(key), key]));

const known = new WeakMap<KubeObject, Budget>();

/** The budget of a Tenant; undefined in a namespace that can be no tenant's. Objects are never changed, so each is read once. */
export const budgetOf = (tenant: KubeObject): Budget | undefined => {
  const found = known.get(tenant);
  if (found) return found;
  const { namespace = '', name = '' } = tenant.metadata;
  if (!tenantOf(namespace)) return undefined;
  const budget = budgetFor(namespace, name, limitsOf(quotasOf(tenant)));
  known.set(tenant, budget);
  return budget;
};

export const budgetFor = (namespace: string, name: string, limits: Budget['limits']): Budget => ({
  tenant: `${namespace}/${name}`,
  parentNamespace: namespace,
  namespace: namespaceOf(namespace, name),
  limits,
});
