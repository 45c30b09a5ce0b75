import type { KubeObject } from '../../api/meta/v1/types.ts';
import { fieldManager, managedByLabel } from '../controller/apply.ts';
import { naming } from '../controller/conditions.ts';
import { collisionOf } from './collisions.ts';
import { deletions, partsOwned, planEnd } from './end.ts';
import { modulesVerdict } from './modules.ts';
import { cleanupFinalizer, gatewayName, lineageOf } from './names.ts';
import { gatewayFor, namespaceFor } from './namespace.ts';
import type { Action, Observed, Plan, Surroundings, Verdict } from './observed.ts';
import { isGatewayOurs, isOurs, isRootTenant, ownerOf, targetOf } from './ownership.ts';
import { partKey } from './part.ts';
import { gatewaySettings } from './gateway-spec.ts';
import { partsOf } from './parts.ts';
import { valuesName } from './values.ts';
import { quotaFaults } from './quota/objects.ts';

/** What to do for a tenant now. Pure; what it does not yet know of (the uid of a namespace to be made) comes with the next event. */
export const plan = (observed: Observed): Plan => (observed.tenant.metadata.deletionTimestamp ? planEnd(observed) : planLife(observed));

const planLife = (observed: Observed): Plan => {
  const { tenant, namespace } = observed;
  const name = targetOf(tenant);
  const hold: Action[] = tenant.metadata.finalizers?.includes(cleanupFinalizer) ? [] : [{ do: 'hold' }];
  const obstacle = obstacleOf(observed);
  if (obstacle) return { actions: hold, verdict: { ready: false, ...obstacle } };
  const actions = [...hold, { do: 'apply', what: 'namespace', desired: namespaceFor(name, tenant.metadata.uid!, observed.inherited, observed.surroundings.settings, ownerOf(observed.parent)) } satisfies Action];
  if (!namespace) return { actions, verdict: undefined };

  actions.push(...planParts(observed, namespace));
  const gateway = planGateway(observed, namespace);
  actions.push(...gateway.actions);
  const pending = gateway.actions.length > 0 && !observed.gateway;
  const { hostFault } = observed.inherited;
  const fault = hostFault ? { ready: false, reason: 'InvalidHost', message: hostFault } : (gateway.verdict ?? faultOf(observed));
  return { actions, verdict: pending ? undefined : (fault ?? { ready: true, reason: 'Reconciled', message: `Namespace ${name} has what the tenant gets` }) };
};

/** What is wrong with a tenant that has its namespace. */
const faultOf = (observed: Observed): Verdict | undefined => {
  const quota = quotaFaults(observed);
  if (quota.length > 0) return { ready: false, reason: 'InvalidQuota', message: `spec.resourceQuotas: ${naming(quota)}` };
  const { handedDown } = observed.surroundings;
  if (handedDown && 'fault' in handedDown) return { ready: false, reason: 'ValuesUnreadable', message: `What charts are told of the cluster cannot be handed down: ${handedDown.fault}` };
  const modules = modulesVerdict(observed);
  if (modules && modules.status !== 'True') return { ready: false, reason: modules.reason, message: modules.message };
  return undefined;
};

const isUnreadable = ({ handedDown }: Surroundings): boolean => handedDown !== undefined && 'fault' in handedDown;

/** What keeps a tenant from having its namespace. */
const obstacleOf = ({ tenant, parent, namespace, left }: Observed): Omit<Verdict, 'ready'> | undefined => {
  const created = tenant.metadata.namespace!;
  const name = targetOf(tenant);
  const collision = collisionOf(created, tenant.metadata.name!);
  if (collision)
    return {
      reason: 'NameCollides',
      message: `The ${collision.what} ${collision.computed} would be this tenant's and that of ${collision.owner} above it; nothing is made: use another name for the tenant`,
    };
  if (parent.state === 'missing')
    return {
      reason: 'ParentNotFound',
      message: `${created} is not the namespace of an existing tenant; create the tenant above first, or this one in the namespace of a tenant`,
    };
  if (parent.state === 'ending')
    return { reason: 'ParentTerminating', message: `The tenant above, or its namespace ${created}, is being deleted; nothing new is made below it` };
  if (namespace && !isOurs(namespace, tenant, ownerOf(parent))) {
    const advice = isRootTenant(tenant) ? `set its label ${managedByLabel} to ${fieldManager} if it may be used` : 'delete it or choose another name for the tenant';
    return { reason: 'NamespaceNotOwned', message: `Namespace ${name} exists and was not made for this tenant; it is left alone: ${advice}` };
  }
  if (namespace?.metadata.deletionTimestamp) return { reason: 'NamespaceTerminating', message: `Namespace ${name} is being deleted; it is made anew when it is gone${left && `: ${left}`}` };
  return undefined;
};

/** Everything else that the tenant gets, and the end of what it no longer gets. */
const planParts = ({ tenant, inherited, made, surroundings }: Observed, namespace: KubeObject): Action[] => {
  const ancestors = lineageOf(namespace.metadata.name!).slice(0, -1);
  const parts = partsOf({ tenant, namespace, ancestors, inherited }, surroundings);
  const wanted = new Set(parts.map(({ what, desired }) => partKey(what, desired)));
  return [
    ...parts.map(({ what, desired }): Action => ({ do: 'apply', what, desired })),
    // What charts are told stays as it is while it cannot be told what it should be.
    ...deletions(partsOwned({ tenant, made }, namespace, (key, what) => !wanted.has(key) && !(what === 'values' && isUnreadable(surroundings)))),
  ];
};

const planGateway = ({ tenant, inherited, gateway, surroundings }: Observed, namespace: KubeObject): { actions: Action[]; verdict?: Verdict } => {
  const ours = gateway && isGatewayOurs(gateway, namespace);
  if (!tenant.spec?.gateway) return { actions: ours && !gateway.metadata.deletionTimestamp ? [{ do: 'delete', what: 'gateway', object: gateway }] : [] };
  // Only a decision takes a gateway away, with all that was set on it; a host that is missing or cannot be is a mistake to mend.
  if (!inherited.host) {
    const kept = ours ? '; what it serves now stays as it is' : '';
    return { actions: [], verdict: { ready: false, reason: 'HostRequired', message: `An own gateway needs a host: set spec.host, here or on a tenant above${kept}` } };
  }
  const wait = (reason: string, message: string) => ({ actions: [], verdict: { ready: false, reason, message } });
  const which = `TenantGateway ${targetOf(tenant)}/${gatewayName}`;
  if (gateway && !ours)
    return wait('GatewayNotOwned', `${which} exists and was not made for this tenant; it is left alone: delete it or set spec.gateway to false`);
  if (gateway?.metadata.deletionTimestamp) return wait('GatewayTerminating', `${which} is being deleted; it is made anew when it is gone`);
  if ('fault' in surroundings.platform) return { actions: [] }; // told as what it is; the gateway stays as it was
  const found = gatewaySettings(surroundings.platform.values);
  if ('fault' in found) return wait('InvalidGatewayValues', `What the platform says of gateways in Secret ${valuesName}, under _cluster, cannot be done: ${found.fault}`);
  return { actions: [{ do: 'apply', what: 'gateway', desired: gatewayFor(inherited.host, found.settings, namespace) }] };
};
