import type { TenantStatus } from '../../../api/apps/v1alpha1/tenant.ts';
import { formatQuantity } from '../../quantity/quantity.ts';
import type { Pool } from './pools.ts';

/** What a Tenant's status tells of its budget: by the keys of `spec.resourceQuotas`, and what remains in one line. */
export const quotaStatus = (pools: ReadonlyMap<string, Pool>): Pick<TenantStatus, 'quota' | 'remaining'> => {
  if (pools.size === 0) return {};
  const entries = Array.from(pools.values(), ({ key, limit, carvedOut, used, remaining }) => ({
    key,
    amounts: { limit: formatQuantity(limit), carvedOut: formatQuantity(carvedOut), used: formatQuantity(used), remaining: formatQuantity(remaining) },
  })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return {
    quota: Object.fromEntries(entries.map(({ key, amounts }) => [key, amounts])),
    remaining: entries.map(({ key, amounts }) => `${key}: ${amounts.remaining}`).join(', '),
  };
};
