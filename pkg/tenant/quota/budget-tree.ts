import { greatest } from '../../quantity/bounds.ts';
import { add, exceeds, subtract, zero, type Quantity } from '../../quantity/quantity.ts';

/** What a tenant may use, by the keys under which a ResourceQuota counts use, and where it stands in the tree. */
export interface Budget {
  /** `namespace/name` of the Tenant. */
  tenant: string;
  /** The namespace that the Tenant is in, which its parent owns. Root is in its own. */
  parentNamespace: string;
  /** The tenant's own namespace. */
  namespace: string;
  limits: ReadonlyMap<string, Quantity>;
}

/** What is in use of a resource in a namespace, not counting what is below it. */
export type UseOf = (namespace: string, resource: string) => Quantity;

/** A tenant in the tree, with each of the limits that it has or may have soon. */
interface Standing extends Omit<Budget, 'limits'> {
  limits: Budget['limits'][];
}

/**
 * Who shares what with whom. Each resource has pools of its own: a tenant that bounds the resource heads one, and whoever does
 * not, draws on the pool of the nearest ancestor that does. A pool's limit is carved out of the pool above. So a tenant that
 * bounds only one resource stays within its parent's bounds for all others.
 */
export class BudgetTree {
  readonly #byNamespace = new Map<string, Standing>();
  readonly #children = new Map<string, Standing[]>();

  constructor(budgets: Iterable<Budget>) {
    for (const budget of budgets) this.add(budget);
  }

  /** Several budgets of one tenant are what it has and what it may have soon: what the tree tells holds whichever it is. */
  add({ limits, ...place }: Budget): void {
    const there = this.#byNamespace.get(place.namespace);
    if (there) return void there.limits.push(limits);
    const standing = { ...place, limits: [limits] };
    this.#byNamespace.set(place.namespace, standing);
    if (place.parentNamespace === place.namespace) return;
    const siblings = this.#children.get(place.parentNamespace);
    if (siblings) siblings.push(standing);
    else this.#children.set(place.parentNamespace, [standing]);
  }

  /** The first namespace on the way up that no tenant of the tree has. */
  missingAbove(budget: Pick<Budget, 'parentNamespace' | 'namespace'>): string | undefined {
    for (let at = budget; at.parentNamespace !== at.namespace; ) {
      const above = this.#byNamespace.get(at.parentNamespace);
      if (!above) return at.parentNamespace;
      at = above;
    }
    return undefined;
  }

  /** The nearest ancestor that bounds a resource, and before it those that may do so soon or may cease to. */
  headsAbove({ parentNamespace, namespace }: Pick<Budget, 'parentNamespace' | 'namespace'>, resource: string): Omit<Budget, 'limits'>[] {
    const heads: Standing[] = [];
    for (let at = parentNamespace === namespace ? undefined : this.#byNamespace.get(parentNamespace); at; ) {
      const bounds = at.limits.filter((limits) => limits.has(resource)).length;
      if (bounds > 0) heads.push(at);
      if (bounds === at.limits.length || at.parentNamespace === at.namespace) break;
      at = this.#byNamespace.get(at.parentNamespace);
    }
    return heads;
  }

  /** The namespaces that draw on one pool, the first of them the head's, and the most that may be carved out of it. */
  pool(head: Pick<Budget, 'namespace'>, resource: string, { without }: { without?: string } = {}): { namespaces: string[]; carvedOut: Quantity } {
    const namespaces = [head.namespace];
    let carvedOut = zero;
    for (let index = 0; index < namespaces.length; index += 1) {
      for (const child of this.#children.get(namespaces[index]!) ?? []) {
        if (child.tenant === without) continue;
        const bounds = boundsOf(child, resource);
        if (bounds.length === 0) namespaces.push(child.namespace);
        else carvedOut = add(carvedOut, greatest(bounds.length === child.limits.length ? bounds : [...bounds, this.pool(child, resource, { without }).carvedOut]));
      }
    }
    return { namespaces, carvedOut };
  }

  /** What a pool has left of the least limit that its head may have, with a tenant and all below it left out of account. May be negative. */
  remaining(head: Pick<Budget, 'namespace'>, resource: string, useOf: UseOf, without?: string): { namespaces: string[]; limit: Quantity; carvedOut: Quantity; used: Quantity; remaining: Quantity } {
    const { namespaces, carvedOut } = this.pool(head, resource, { without });
    const used = namespaces.map((namespace) => useOf(namespace, resource)).reduce(add, zero);
    const limit = boundsOf(this.#byNamespace.get(head.namespace)!, resource).reduce((least, bound) => (exceeds(least, bound) ? bound : least));
    return { namespaces, limit, carvedOut, used, remaining: subtract(subtract(limit, carvedOut), used) };
  }
}

const boundsOf = ({ limits }: Standing, resource: string): Quantity[] => limits.flatMap((each) => each.get(resource) ?? []);

/** Why a budget cannot be what it is to be. */
export interface BudgetFault {
  resource: string;
  why: 'over-parent' | 'below-children';
  want: Quantity;
  /** Of the pool above, or of what is carved out of the own pool. */
  limit: Quantity;
  carvedOut: Quantity;
  used: Quantity;
  remaining: Quantity;
  /** The tenant whose limit it is. */
  head: string;
}

/**
 * Why a tenant cannot have the budget that it is to have. Only resources whose limit changes are looked at: what was
 * let in once, or by an older rule, holds up no other change.
 * @param tree of what there is, the tenant as it was among it
 */
export const budgetFaults = (tree: BudgetTree, before: Budget | undefined, after: Budget, useOf: UseOf): BudgetFault[] => {
  const resources = new Set([...after.limits.keys(), ...(before?.limits.keys() ?? [])]);
  return Array.from(resources)
    .toSorted()
    .flatMap((resource) => faultOf(tree, before?.limits.get(resource), after, resource, useOf) ?? []);
};

const faultOf = (tree: BudgetTree, old: Quantity | undefined, after: Budget, resource: string, useOf: UseOf): BudgetFault | undefined => {
  const limit = after.limits.get(resource);
  if (old?.nano === limit?.nano) return undefined;
  const own = tree.pool(after, resource);
  if (limit && exceeds(own.carvedOut, limit)) {
    return { resource, why: 'below-children', want: limit, limit, carvedOut: own.carvedOut, used: zero, remaining: subtract(limit, own.carvedOut), head: after.tenant };
  }
  // Where the limit goes, what was carved out of it is carved out of the pool above.
  const want = limit ?? own.carvedOut;
  if (old && !exceeds(want, old)) return undefined;
  for (const head of tree.headsAbove(after, resource)) {
    const { namespaces: _, ...above } = tree.remaining(head, resource, useOf, after.tenant);
    if (exceeds(want, above.remaining)) return { resource, why: 'over-parent', want, head: head.tenant, ...above };
  }
  return undefined;
};
