import { bind, formatBounds } from '../../quantity/bounds.ts';
import { add, formatQuantity, isNegative, parseQuantity, subtract, zero, type Quantity } from '../../quantity/quantity.ts';
import type { TenantSettings } from '../settings.ts';
import { keysOf } from './budget.ts';
import type { Budget, BudgetTree, UseOf } from './budget-tree.ts';
import { hardOf } from './keys.ts';

/** What a pool has of one resource, and how it is drawn on. */
export interface Pool {
  /** The key of `spec.resourceQuotas` that bounds it. */
  key: string;
  limit: Quantity;
  carvedOut: Quantity;
  used: Quantity;
  remaining: Quantity;
  /** The namespaces that draw on it, the head's own first. */
  namespaces: readonly string[];
  /** Its share of a ResourceQuota's `hard`, before what others use is taken off; with what each namespace uses of it. */
  shares: ReadonlyMap<string, { available: Quantity; used: ReadonlyMap<string, Quantity> }>;
}

export type PoolSettings = Pick<TenantSettings, 'ratios' | 'quotaBufferPercent'>;

/** The pools that a tenant heads, by resource. */
export const poolsOf = (tree: BudgetTree, head: Budget, quotas: Readonly<Record<string, unknown>>, useOf: UseOf, { ratios, quotaBufferPercent }: PoolSettings): Map<string, Pool> => {
  const keys = keysOf(quotas);
  return new Map(
    Array.from(head.limits, ([resource, limit]): [string, Pool] => {
      const { namespaces, carvedOut, used, remaining } = tree.remaining(head, resource, useOf);
      const key = keys.get(resource) ?? resource;
      const rest = atLeastNothing(subtract(limit, carvedOut));
      const available = { ...rest, nano: (rest.nano * BigInt(quotaBufferPercent || 100)) / 100n };
      const shares = Object.entries(hardOf({ [key]: formatQuantity(available) }, ratios)).map(
        ([hard, bound]) => [hard, { available: parseQuantity(bound)!, used: new Map(namespaces.map((namespace) => [namespace, useOf(namespace, hard)])) }] as const,
      );
      return [resource, { key, limit, carvedOut, used, remaining, namespaces, shares: new Map(shares) }];
    }),
  );
};

const atLeastNothing = (quantity: Quantity): Quantity => (isNegative(quantity) ? zero : quantity);

/** Whether a namespace's own quota does not already say all: others draw on the pool, or have a part of it for themselves. */
const isShared = ({ namespaces, carvedOut }: Pool): boolean => namespaces.length > 1 || carvedOut.nano > 0n;

/** `hard` of what a namespace may use of the pools that it draws on: what there is, less what the others use. Undefined where it is in no shared pool. */
export const allocatedTo = (namespace: string, pools: Iterable<Pool>): Record<string, string> | undefined => {
  const hard = new Map<string, Quantity>();
  for (const pool of pools) {
    if (!isShared(pool)) continue;
    for (const [key, { available, used }] of pool.shares) {
      const byOthers = Array.from(used, ([other, amount]) => (other === namespace ? zero : amount)).reduce(add, zero);
      bind(hard, key, atLeastNothing(subtract(available, byOthers)));
    }
  }
  return hard.size === 0 ? undefined : formatBounds(hard);
};

/** What is promised or in use beyond what there is, one text a resource. */
export const overcommitments = (pools: ReadonlyMap<string, Pool>): { key: string; note: string }[] =>
  Array.from(pools.values()).flatMap(({ key, limit, carvedOut, used, remaining }) =>
    isNegative(remaining) ? [{ key, note: `${key}: tenants below have ${formatQuantity(carvedOut)} and ${formatQuantity(used)} is in use, of ${formatQuantity(limit)}` }] : [],
  );
