import { part, type Part, type PartContext } from '../part.ts';
import { quotasOf } from './budget.ts';
import { hardOf, keyFault, quantityFault, type AllocationRatios } from './keys.ts';

const quotaName = 'tenant-quota';
const limitRangeName = 'tenant-range-limits';

/** What a container has that says nothing of it: under a quota, one that has no limits would be refused. */
const containerDefaults = {
  type: 'Container',
  default: { cpu: '250m', memory: '128Mi', 'ephemeral-storage': '2Gi' },
  defaultRequest: { cpu: '25m', memory: '128Mi', 'ephemeral-storage': '50Mi' },
};

/** The ResourceQuota of a tenant that has a budget, and what its containers have by default where it shares in one, if only in one from above. */
export const quotaParts = (context: PartContext, ratios: AllocationRatios): Part[] => {
  const quotas = quotasOf(context.tenant);
  return [
    ...(Object.keys(quotas).length > 0 ? [part('resourceQuota', context, quotaName, { spec: { hard: hardOf(quotas, ratios) } })] : []),
    ...(context.inherited.bounded ? [part('limitRange', context, limitRangeName, { spec: { limits: [containerDefaults] } })] : []),
  ];
};

/** What of a budget is not enforced as it stands, in words: it was written before admission knew better, or past it. */
export const quotaFaults = (context: Pick<PartContext, 'tenant'>): string[] =>
  Object.entries(quotasOf(context.tenant)).flatMap(([key, value]) => {
    const fault = quantityFault(value);
    const unknown = keyFault(key);
    return [...(fault ? [`${key} ${fault} and counts as 0`] : []), ...(unknown ? [`${key} bounds nothing: ${unknown}`] : [])];
  });
