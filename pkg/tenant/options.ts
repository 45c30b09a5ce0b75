import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isNegative, parseQuantity } from '../quantity/quantity.ts';
import { defaultRatios, type AllocationRatios } from './quota/keys.ts';
import { defaultTenantSettings, podSecurityLevels, ratiosOf, type TenantSettings } from './settings.ts';
import { asMap, parseValues } from './values.ts';
import { integerValue, type Flags } from '../server/flags.ts';

/** The command line's settings of what tenants get. */
export class TenantOptions {
  readonly ratios: Record<keyof AllocationRatios, string> = { ...defaultRatios };
  readonly podSecurity = { ...defaultTenantSettings.podSecurity };
  readonly internalNetworks: string[] = [];
  quotaBufferPercent = defaultTenantSettings.quotaBufferPercent;
  clusterValues = '';

  addFlags(flags: Flags): void {
    for (const resource of Object.keys(this.ratios) as (keyof AllocationRatios)[]) {
      const help = `how many times the requests of ${resource} in a tenant's quota its limits are`;
      flags.add({ name: `${resource}-allocation-ratio`, value: 'ratio', help, default: this.ratios[resource], set: (given) => void (this.ratios[resource] = given) });
    }
    flags.add({
      name: 'tenant-quota-buffer-percent',
      value: 'percent',
      help: "how much of what a tenant's budget leaves the namespaces that share it may use together: 130 is 30 % beyond it; 0 is 100",
      default: String(this.quotaBufferPercent),
      set: (given) => void (this.quotaBufferPercent = integerValue('tenant-quota-buffer-percent', given)),
    });
    for (const [mode, what] of [['enforce', 'refused'], ['warn', 'warned of']] as const) {
      const help = `Pod Security level of tenants' namespaces, beyond which pods are ${what}: one of ${podSecurityLevels.join(', ')}`;
      flags.add({ name: `pod-security-${mode}`, value: 'level', help, default: this.podSecurity[mode], set: (given) => void (this.podSecurity[mode] = given) });
    }
    flags.add({
      name: 'internal-network',
      value: 'cidr',
      help: "network of pods, Services, nodes and the like, which is no part of the outside world that tenants' pods reach and are reached from; may be repeated, and replaces the default list",
      default: defaultTenantSettings.internalNetworks.join(', '),
      set: (network) => void this.internalNetworks.push(network),
    });
    flags.add({
      name: 'cluster-values',
      value: 'path',
      help: 'YAML file with a map, read at start, that tenants\' charts find as _cluster in Secret cozystack-values; not used where tenant-root has such a Secret from elsewhere',
      default: this.clusterValues,
      set: (path) => void (this.clusterValues = path),
    });
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    const faults: string[] = [];
    for (const [resource, text] of Object.entries(this.ratios)) {
      const ratio = parseQuantity(text);
      if (!ratio || isNegative(ratio) || ratio.nano === 0n) faults.push(`--${resource}-allocation-ratio must be a number above 0`);
    }
    if (this.quotaBufferPercent !== 0 && this.quotaBufferPercent < 100) faults.push('--tenant-quota-buffer-percent must be 0, or 100 and more');
    for (const [mode, level] of Object.entries(this.podSecurity)) if (!podSecurityLevels.includes(level)) faults.push(`--pod-security-${mode} must be one of ${podSecurityLevels.join(', ')}`);
    for (const network of this.internalNetworks) if (!isNetwork(network)) faults.push(`--internal-network must be a CIDR like 10.244.0.0/16, and less than all addresses: ${network}`);
    return faults;
  }

  /** @throws Error where the file of values cannot be read, or holds no map */
  async complete(): Promise<TenantSettings> {
    const { podSecurity, quotaBufferPercent, internalNetworks } = this;
    const clusterValues = this.clusterValues ? asMap(parseValues(await readFile(this.clusterValues, 'utf8'))) : {};
    if (!clusterValues) throw new Error(`--cluster-values: ${this.clusterValues} holds no map`);
    return {
      podSecurity,
      ratios: ratiosOf(this.ratios),
      quotaBufferPercent,
      clusterValues,
      internalNetworks: internalNetworks.length > 0 ? internalNetworks : defaultTenantSettings.internalNetworks,
    };
  }
}

const isNetwork = (text: string): boolean => {
  const [address = '', bits = '', ...rest] = text.split('/');
  const length = isIP(address) === 6 ? 128 : 32;
  return isIP(address) > 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= length;
};
