import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { applyObject, deleteObject, fieldManager, isRejected, type Target } from '../controller/apply.ts';
import { ifFound } from '../kube/status-error.ts';
import type { Store } from '../storage/store.ts';
import { cleanupFinalizer, gatewayName, isRoot, namespaceOf } from './names.ts';
import { isPartOurs, partKey, type PartKind } from './part.ts';
import { isGatewayOurs, isOurs } from './ownership.ts';
import type { Action, Observed, Verdict } from './observed.ts';

/** Where a tenant's objects are written. */
export interface TenantTargets {
  tenants: Target & Pick<Store, 'update'>;
  namespace: Target;
  gateway: Target;
  parts: Record<PartKind, Target>;
  /** Is told what a write made of a part, before the watch does. */
  learn: (what: PartKind, object: KubeObject) => void;
}

/**
 * Carries out a plan, in its order. Returns what was refused, if anything: nothing is done after a namespace or a gateway that
 * is not ours, while a part is no reason to withhold the others.
 * @throws what the kube-apiserver rejected; of parts, when the others are done
 */
export const carryOut = async (targets: TenantTargets, observed: Observed, actions: readonly Action[]): Promise<Verdict | undefined> => {
  const refusals: string[] = [];
  let rejected: unknown;
  for (const action of actions) {
    try {
      const refused = await act(targets, observed, action);
      if (refused && !isOfPart(action)) return refused;
      if (refused) refusals.push(refused.message);
    } catch (error) {
      if (!isOfPart(action) || !isRejected(error)) throw error;
      rejected ??= error;
    }
  }
  if (rejected) throw rejected;
  return refusals.length > 0 ? { ready: false, reason: 'ObjectNotOwned', message: refusals.join('; ') } : undefined;
};

const isOfPart = (action: Action): boolean => 'what' in action && !['tenant', 'namespace', 'gateway'].includes(action.what);

const act = async (targets: TenantTargets, observed: Observed, action: Action): Promise<Verdict | undefined> => {
  const { tenant } = observed;
  switch (action.do) {
    case 'hold':
      await setFinalizers(targets, tenant, [...(tenant.metadata.finalizers ?? []), cleanupFinalizer]);
      return undefined;
    case 'release':
      await release(targets, tenant);
      return undefined;
    case 'delete':
      await deleteObject(targetOf(targets, action.what), action.object);
      return undefined;
    case 'apply':
      return applyOne(targets, observed, action);
  }
};

const targetOf = (targets: TenantTargets, what: 'tenant' | 'namespace' | 'gateway' | PartKind): Target => {
  if (what === 'tenant') return targets.tenants;
  return what === 'namespace' || what === 'gateway' ? targets[what] : targets.parts[what];
};

const applyOne = async (targets: TenantTargets, observed: Observed, { what, desired }: Action & { do: 'apply' }): Promise<Verdict | undefined> => {
  const { tenant, namespace } = observed;
  const target = targetOf(targets, what);
  if (what === 'namespace') {
    const outcome = await applyObject(target, desired, namespace, (live) => isOurs(live, tenant, parentNamespace(observed)));
    return outcome.result === 'refused' ? { ready: false, reason: 'NamespaceNotOwned', message: outcome.message } : undefined;
  }
  if (what === 'gateway') {
    const outcome = await applyObject(target, desired, observed.gateway, (live) => namespace !== undefined && isGatewayOurs(live, namespace));
    return outcome.result === 'refused' ? { ready: false, reason: 'GatewayNotOwned', message: outcome.message } : undefined;
  }
  const outcome = await applyObject(target, desired, observed.made.get(partKey(what, desired))?.object, (live) => namespace !== undefined && isPartOurs(live, tenant, namespace));
  if (outcome.result === 'written') targets.learn(what, outcome.object);
  return outcome.result === 'refused' ? { ready: false, reason: 'ObjectNotOwned', message: outcome.message } : undefined;
};

const parentNamespace = ({ parent }: Observed): KubeObject | undefined => (parent.state === 'ready' ? parent.namespace : undefined);

/**
 * Lets a Tenant go. The caches may be late: what was made a moment before the deletion may not be in them, and after
 * this nobody would look for it, so the kube-apiserver is asked once more.
 */
const release = async (targets: TenantTargets, tenant: Tenant): Promise<void> => {
  const { namespace, gateway } = targets;
  const { namespace: created, name } = tenant.metadata as { namespace: string; name: string };
  const own = namespaceOf(created, name);
  const left = await ifFound(namespace.get('', own));
  if (left && isOurs(left, tenant)) {
    if (!isRoot(created, name)) return deleteObject(namespace, left); // its end comes back as an event
    const made = await ifFound(gateway.get(own, gatewayName));
    if (made && isGatewayOurs(made, left)) return deleteObject(gateway, made);
  }
  await setFinalizers(targets, tenant, tenant.metadata.finalizers!.filter((finalizer) => finalizer !== cleanupFinalizer));
};

/** An update of what was read: an apply could not remove what others set. */
const setFinalizers = async ({ tenants }: TenantTargets, tenant: Tenant, finalizers: string[]): Promise<void> => {
  await tenants.update({ ...tenant, metadata: { ...tenant.metadata, finalizers } }, { fieldManager });
};
