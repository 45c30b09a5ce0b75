import { exceeds, formatQuantity, parseQuantity, zero, type Quantity } from './quantity.ts';

/** Where several bounds are given for one name, the least holds. */
export const bind = (bounds: Map<string, Quantity>, name: string, bound: Quantity): void => {
  const other = bounds.get(name);
  if (!other || exceeds(other, bound)) bounds.set(name, bound);
};

/** As an object keeps them: canonical texts, in the order of their names. */
export const formatBounds = (bounds: ReadonlyMap<string, Quantity>): Record<string, string> =>
  Object.fromEntries(Array.from(bounds, ([name, bound]): [string, string] => [name, formatQuantity(bound)]).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Zero of nothing. */
export const greatest = (quantities: Iterable<Quantity>): Quantity => Iterator.from(quantities).reduce((most, each) => (exceeds(each, most) ? each : most), zero);

/** How much of a resource is in use, as several ResourceQuotas of one namespace count it: the most that any of them tells. */
export const usedOf = (quotas: Iterable<{ status?: { used?: Record<string, string> } }>, resource: string): Quantity =>
  greatest(Array.from(quotas, ({ status }) => parseQuantity(status?.used?.[resource] ?? 0) ?? zero));
