import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { AdmissionAttributes } from '../../admission/chain.ts';
import { StatusError } from '../../kube/status-error.ts';
import { formatQuantity } from '../../quantity/quantity.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import { freshen } from '../../storage/freshen.ts';
import { budgetFor, budgetOf, keysOf, limitsOf, quotasOf } from '../../tenant/quota/budget.ts';
import type { Budget, BudgetFault } from '../../tenant/quota/budget-tree.ts';
import { configMapLedger } from '../../tenant/quota/ledger.ts';
import { BudgetReservations } from '../../tenant/quota/reservations.ts';
import { tenantOf } from '../../tenant/names.ts';
import type { AdmissionEnvironment, Causes, KindAdmission } from '../strategy.ts';
import { quotaField } from './quotas.ts';

/** How long the cache may take to become fresh. */
const freshWithinMs = 5000;
/** Beyond the time that a request may take: what the host may still do then, and how far clocks may differ. */
const holdBeyondMs = 30_000;

/** Gives a tenant no more than the tenants above it have left, and leaves none with less than those below it have. */
export const budgetAdmission = ({ client, store, namespace, identity, requestTimeoutMs, useOf }: Omit<AdmissionEnvironment, 'storeOf' | 'requireParent'>): KindAdmission => {
  /** An entry is one version of an object: each is read once. */
  const known = new WeakMap<CacheEntry, Budget[]>();
  const budgetIn = (entry: CacheEntry): Budget[] => {
    let budgets = known.get(entry);
    if (!budgets) {
      const budget = budgetOf(entry.object);
      known.set(entry, (budgets = budget ? [budget] : []));
    }
    return budgets;
  };
  const declared = async (): Promise<Budget[]> => {
    if (!store.cache.complete || !(await freshen(store, AbortSignal.timeout(2 * freshWithinMs), freshWithinMs))) {
      throw StatusError.unavailable('the budgets of other tenants cannot be read; try again');
    }
    return Array.from(store.cache.list()).flatMap(budgetIn);
  };
  const reservations = new BudgetReservations({ ledger: configMapLedger(client, namespace), declared, useOf, identity, holdMs: requestTimeoutMs + holdBeyondMs });
  return {
    name: 'TenantBudget',
    handles: ({ operation, subresource }) => operation !== 'DELETE' && subresource === '',
    validate: async (attributes) => {
      const after = budgetAskedFor(attributes);
      if (!after) return;
      const outcome = await reservations.reserve(after, attributes);
      if ('reserved' in outcome) {
        attributes.done.push(outcome.reserved);
        attributes.undo.push(async (mayYetBe) => void (mayYetBe || outcome.reserved()));
        return;
      }
      const causes = 'missing' in outcome ? missingCauses(outcome.missing) : outcome.faults.map((fault) => causeOf(attributes, fault));
      throw StatusError.invalid(attributes.kind.group, attributes.kind.kind, attributes.name, causes);
    },
    stop: () => reservations.stop(),
  };
};

/** Undefined where nothing is asked for: no limits before and after, or the very same on the very version that has them. */
const budgetAskedFor = ({ namespace, name, object, oldObject }: AdmissionAttributes): Budget | undefined => {
  if (!tenantOf(namespace)) return undefined; // no tenant's namespace
  const after = limitsOf(object ? quotasOf(object) : {});
  const before = limitsOf(oldObject ? quotasOf(oldObject) : {});
  if (after.size === 0 && before.size === 0) return undefined;
  if (isPinned(object, oldObject) && isSame(after, before)) return undefined;
  return budgetFor(namespace, name, after);
};

const isPinned = (object: KubeObject | undefined, old: KubeObject | undefined): boolean => old !== undefined && object?.metadata.resourceVersion === old.metadata.resourceVersion;

const isSame = (a: Budget['limits'], b: Budget['limits']): boolean => a.size === b.size && Array.from(a).every(([resource, limit]) => b.get(resource)?.nano === limit.nano);

const missingCauses = (namespace: string): Causes => [
  { reason: 'FieldValueForbidden', field: 'spec.resourceQuotas', message: `Forbidden: there is no Tenant for namespace ${namespace}, so what it has to give is not known; create that tenant first, or leave spec.resourceQuotas out` },
];

/** A fault with its amounts, and what to do about it. */
const causeOf = ({ object, oldObject }: AdmissionAttributes, { resource, why, want, limit, carvedOut, used, remaining, head }: BudgetFault): Causes[number] => {
  const asked = object ? quotasOf(object) : {};
  const key = keysOf(asked).get(resource) ?? keysOf(oldObject ? quotasOf(oldObject) : {}).get(resource) ?? resource;
  const text = formatQuantity;
  const most = remaining.nano < 0n ? 'nothing' : text(remaining);
  const message =
    why === 'below-children'
      ? `${text(want)} is less than the ${text(carvedOut)} that tenants below it have; lower theirs first, or give at least ${text(carvedOut)}`
      : `${text(want)} is more than what remains, which is ${most}: tenant ${head} has ${text(limit)}, of which other tenants have ${text(carvedOut)} and ${text(used)} is in use; ask for no more than ${most}, or have the budget of ${head} raised`;
  return { reason: 'FieldValueForbidden', field: quotaField(key), message: `Forbidden: ${message}` };
};
