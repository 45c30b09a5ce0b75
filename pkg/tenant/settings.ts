import { parseQuantity } from '../quantity/quantity.ts';
import { defaultRatios, type AllocationRatios } from './quota/keys.ts';
import type { ClusterValues } from './values.ts';

/** What the platform decides for all tenants. */
export interface TenantSettings {
  /** Pod Security levels of tenants' namespaces: what is refused, and what is warned of. */
  podSecurity: { enforce: string; warn: string };
  ratios: AllocationRatios;
  /** By how much namespaces that share a budget may together go beyond it, in percent: 130 is 30 more. 0 and 100 are none. */
  quotaBufferPercent: number;
  /** CIDRs of pods, Services, nodes and the like: no part of the outside world that tenants reach and are reached from. */
  internalNetworks: readonly string[];
  /** Handed down from root where the platform has no Secret of its own for that. */
  clusterValues: ClusterValues;
}

/** Where pods, Services and nodes are in nearly every cluster. */
const privateNetworks = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10'];

export const podSecurityLevels = ['privileged', 'baseline', 'restricted'];

export const ratiosOf = (ratios: Record<keyof AllocationRatios, string>): AllocationRatios => ({
  cpu: parseQuantity(ratios.cpu)!,
  memory: parseQuantity(ratios.memory)!,
  'ephemeral-storage': parseQuantity(ratios['ephemeral-storage'])!,
});

export const defaultTenantSettings: TenantSettings = {
  podSecurity: { enforce: 'baseline', warn: 'restricted' },
  ratios: ratiosOf(defaultRatios),
  quotaBufferPercent: 100,
  internalNetworks: privateNetworks,
  clusterValues: {},
};
