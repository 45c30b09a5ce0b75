import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { applyObject, deleteObject, fieldManager, type Target } from '../controller/apply.ts';
import { hasCode } from '../kube/status-error.ts';
import type { Store } from '../storage/store.ts';
import { cleanupFinalizer, gatewayName, isRoot, namespaceOf } from './names.ts';
import { isGatewayOurs, isOurs, type Action, type Observed, type Verdict } from './plan.ts';

/** Where a tenant's objects are written. */
export interface TenantTargets {
  tenants: Pick<Store, 'update'>;
  namespace: Target;
  gateway: Target;
}

/** Carries out a plan, in its order. Returns what was refused, if anything: then nothing after it is done. */
export const carryOut = async (targets: TenantTargets, observed: Observed, actions: readonly Action[]): Promise<Verdict | undefined> => {
  for (const action of actions) {
    const refused = await act(targets, observed, action);
    if (refused) return refused;
  }
  return undefined;
};

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
      await deleteObject(targets[action.what], action.object);
      return undefined;
    case 'apply': {
      const { namespace } = observed;
      const outcome = await applyObject(targets[action.what], action.desired, observed[action.what], (live) =>
        action.what === 'namespace' ? isOurs(live, tenant, parentNamespace(observed)) : namespace !== undefined && isGatewayOurs(live, namespace),
      );
      if (outcome.result !== 'refused') return undefined;
      return { ready: false, reason: action.what === 'namespace' ? 'NamespaceNotOwned' : 'GatewayNotOwned', message: outcome.message };
    }
  }
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
  const left = await orAbsent(namespace.get('', own));
  if (left && isOurs(left, tenant)) {
    if (!isRoot(created, name)) return deleteObject(namespace, left); // its end comes back as an event
    const made = await orAbsent(gateway.get(own, gatewayName));
    if (made && isGatewayOurs(made, left)) return deleteObject(gateway, made);
  }
  await setFinalizers(targets, tenant, tenant.metadata.finalizers!.filter((finalizer) => finalizer !== cleanupFinalizer));
};

/** An update of what was read: an apply could not remove what others set. */
const setFinalizers = async ({ tenants }: TenantTargets, tenant: Tenant, finalizers: string[]): Promise<void> => {
  await tenants.update({ ...tenant, metadata: { ...tenant.metadata, finalizers } }, { fieldManager });
};

const orAbsent = async (object: Promise<KubeObject>): Promise<KubeObject | undefined> => {
  try {
    return await object;
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
};
