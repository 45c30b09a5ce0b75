import { bind, formatBounds } from '../../quantity/bounds.ts';
import { divideUp, isNegative, parseQuantity, zero, type Quantity } from '../../quantity/quantity.ts';

/** By how much limits may be above requests: a request is a limit divided by its resource's ratio. All above zero. */
export interface AllocationRatios {
  cpu: Quantity;
  memory: Quantity;
  'ephemeral-storage': Quantity;
}

/** What Cozystack has where the platform says nothing else. */
export const defaultRatios = { cpu: '10', memory: '1', 'ephemeral-storage': '40' } as const;

/** Counts of objects that a ResourceQuota knows by these names. */
const objectCounts = new Set([
  'configmaps', 'persistentvolumeclaims', 'pods', 'replicationcontrollers', 'resourcequotas', 'secrets', 'services', 'services.loadbalancers', 'services.nodeports',
]);
const compute = ['cpu', 'memory', 'ephemeral-storage'] as const;
type Compute = (typeof compute)[number];
const isCompute = (key: string): key is Compute => (compute as readonly string[]).includes(key);

/** The keys of a ResourceQuota's `hard` that bound one key of `spec.resourceQuotas`. */
const hardKeysOf = (key: string): string[] => {
  if (key === 'storage') return ['requests.storage'];
  if (key.startsWith('hugepages-')) return [`requests.${key}`]; // of these, limits are always what requests are
  return isAsItIs(key) ? [key] : [`limits.${key}`, `requests.${key}`];
};

/** Keys in the vocabulary of ResourceQuota already. */
const isAsItIs = (key: string): boolean => objectCounts.has(key) || /^(limits\.|requests\.|count\/)|\.storageclass\.storage\.k8s\.io\//.test(key);

/** The key of a ResourceQuota's `status.used` that tells how much of a key of `spec.resourceQuotas` is in use. */
export const usedKeyOf = (key: string): string => {
  const keys = hardKeysOf(key);
  return key.includes('/') ? keys.at(-1)! : keys[0]!; // of extended resources, only requests are counted
};

/** Why a key of `spec.resourceQuotas` bounds nothing, or undefined where a ResourceQuota takes it. */
export const keyFault = (key: string): string | undefined => {
  const refused = hardKeysOf(key).find((hard) => !isTaken(hard));
  return refused === undefined
    ? undefined
    : `a ResourceQuota takes no ${JSON.stringify(refused)}: use cpu, memory, storage, ephemeral-storage, ${[...objectCounts].join(', ')}, count/<resource>.<group>, hugepages-<size> or the full name of an extended resource`;
};

const segment = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const qualified = new RegExp(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?${segment}$`);

/** As the kube-apiserver decides (ValidateResourceQuotaResourceName): a name without a slash is one that it knows. */
const isTaken = (key: string): boolean => {
  if (key.length > 253 + 1 + 63 || !qualified.test(key)) return false;
  if (key.includes('/')) return key.indexOf('/') <= 253;
  if (objectCounts.has(key) || /^(requests\.)?hugepages-/.test(key) || key === 'requests.storage') return true;
  return /^(limits|requests)\./.test(key) && isCompute(key.slice(key.indexOf('.') + 1));
};

/** Values of `spec.resourceQuotas` that are no quantity, or less than nothing: they count as zero. */
export const quantityFault = (value: unknown): string | undefined => {
  const quantity = readQuantity(value);
  if (!quantity) return 'is no quantity';
  return isNegative(quantity) ? 'is less than nothing' : undefined;
};

/** Keys that a ResourceQuota takes only whole: counts of objects, and extended resources. */
const isCounted = (key: string): boolean => objectCounts.has(key) || (key.includes('/') && !key.endsWith('/requests.storage'));

/** Why a quantity is none of the key's resource, or undefined. */
export const countFault = (key: string, value: unknown): string | undefined => {
  const quantity = readQuantity(value);
  return quantity && isCounted(key) && quantity.nano % billion !== 0n ? 'must be an integer' : undefined;
};

const readQuantity = (value: unknown): Quantity | undefined => (typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : undefined);

/**
 * `hard` of the ResourceQuota that bounds what `spec.resourceQuotas` names, in canonical quantities. A key that no ResourceQuota takes
 * is left out (keyFault tells), a value that is no quantity counts as zero; where two keys bound the same, the lesser holds.
 */
export const hardOf = (resourceQuotas: Readonly<Record<string, unknown>>, ratios: AllocationRatios): Record<string, string> => {
  const hard = new Map<string, Quantity>();
  for (const [key, value] of Object.entries(resourceQuotas)) {
    const limit = quantityFault(value) ? zero : readQuantity(value)!;
    for (const name of hardKeysOf(key)) {
      if (!isTaken(name)) continue;
      const divided = isCompute(key) && name.startsWith('requests.') ? divideUp(limit, ratios[key], unitOf(name)) : limit;
      bind(hard, name, atMost(inWhole(name, divided)));
    }
  }
  return formatBounds(hard);
};

const billion = 10n ** 9n;
const isCpu = (hardKey: string): boolean => hardKey === 'limits.cpu' || hardKey === 'requests.cpu';
/** CPU is counted in thousandths, all else in ones. In billionths. */
const unitOf = (hardKey: string): bigint => (isCpu(hardKey) ? billion / 1000n : billion);
const one: Quantity = { nano: billion, format: 'DecimalSI' };
const inWhole = (hardKey: string, quantity: Quantity): Quantity => divideUp(quantity, one, unitOf(hardKey));

/** The kube-apiserver holds no more than this. */
const largest = (2n ** 63n - 1n) * billion;
const atMost = ({ nano, format }: Quantity): Quantity => ({ nano: nano > largest ? largest : nano, format });
