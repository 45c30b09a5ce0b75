import { add, exceeds, subtract, zero, type Quantity } from '../../quantity/quantity.ts';

/** What a tenant may use, by the keys of `spec.resourceQuotas`, and where it stands in the tree. */
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

/**
 * Who shares what with whom. Each resource has pools of its own: a tenant that bounds the resource heads one, and whoever does
 * not, draws on the pool of the nearest ancestor that does. A pool's limit is carved out of the pool above. So a tenant that
 * bounds only one resource stays within its parent's bounds for all others.
 */
export class BudgetTree {
  readonly #byNamespace = new Map<string, Budget>();
  readonly #children = new Map<string, Budget[]>();

  constructor(budgets: Iterable<Budget>) {
    for (const budget of budgets) {
      this.#byNamespace.set(budget.namespace, budget);
      if (budget.parentNamespace === budget.namespace) continue;
      const siblings = this.#children.get(budget.parentNamespace);
      if (siblings) siblings.push(budget);
      else this.#children.set(budget.parentNamespace, [budget]);
    }
  }

  /** The nearest ancestor that bounds a resource. */
  headAbove({ parentNamespace, namespace }: Pick<Budget, 'parentNamespace' | 'namespace'>, resource: string): Budget | undefined {
    let at = parentNamespace === namespace ? undefined : this.#byNamespace.get(parentNamespace);
    while (at && !at.limits.has(resource)) at = at.parentNamespace === at.namespace ? undefined : this.#byNamespace.get(at.parentNamespace);
    return at;
  }

  /** The namespaces that draw on one pool, the first of them the head's, and the limits carved out of it. */
  pool(head: Pick<Budget, 'namespace'>, resource: string, { without }: { without?: string } = {}): { namespaces: string[]; carvedOut: Quantity } {
    const namespaces = [head.namespace];
    let carvedOut = zero;
    for (let index = 0; index < namespaces.length; index += 1) {
      for (const child of this.#children.get(namespaces[index]!) ?? []) {
        if (child.tenant === without) continue;
        const limit = child.limits.get(resource);
        if (limit) carvedOut = add(carvedOut, limit);
        else namespaces.push(child.namespace);
      }
    }
    return { namespaces, carvedOut };
  }

  /** What a pool has left of its limit, with a tenant and all below it left out of account. May be negative. */
  remaining(head: Budget, resource: string, useOf: UseOf, without?: string): { limit: Quantity; carvedOut: Quantity; used: Quantity; remaining: Quantity } {
    const { namespaces, carvedOut } = this.pool(head, resource, { without });
    const used = namespaces.map((namespace) => useOf(namespace, resource)).reduce(add, zero);
    const limit = head.limits.get(resource)!;
    return { limit, carvedOut, used, remaining: subtract(subtract(limit, carvedOut), used) };
  }
}

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
  const head = tree.headAbove(after, resource);
  if (!head) return undefined;
  // Where the limit goes, what was carved out of it is carved out of the pool above.
  const want = limit ?? own.carvedOut;
  if (old && !exceeds(want, old)) return undefined;
  const above = tree.remaining(head, resource, useOf, after.tenant);
  return exceeds(want, above.remaining) ? { resource, why: 'over-parent', want, head: head.tenant, ...above } : undefined;
};
