import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Condition } from '../../api/meta/v1/types.ts';
import { applyObject, collectionPath, deleteObject, fieldManager, isRejected, type ReplaceTarget, type Target } from '../controller/apply.ts';
import { timestamp } from '../controller/clock.ts';
import type { KubeClient } from '../kube/client.ts';
import { hasCode, type StatusError } from '../kube/status-error.ts';
import { isOurs, type Action, type Made } from './plan.ts';
import type { RouteUpdate } from './route-status.ts';
import type { Certificate } from './types.ts';

/** Where each thing that a gateway makes is written. */
export type GatewayTargets = Record<Exclude<Made, 'gateway' | 'listenerSet'>, Target> & Record<'gateway' | 'listenerSet', ReplaceTarget> & { account: Pick<Target, 'apply'> };

export interface Carried {
  /** Objects that stand in the way, in words; what else is to be done is done nevertheless. */
  refused: string[];
  /** What the kube-apiserver rejected. */
  rejected: StatusError[];
  /** Something was made that comes back as an event. */
  created: boolean;
}

export const carryOut = async (targets: GatewayTargets, gateway: TenantGateway, actions: readonly Action[]): Promise<Carried> => {
  const carried: Carried = { refused: [], rejected: [], created: false };
  for (const action of actions) {
    try {
      await act(targets, gateway, action, carried);
    } catch (error) {
      if (!isRejected(error)) throw error;
      carried.rejected.push(error);
    }
  }
  return carried;
};

const act = async (targets: GatewayTargets, gateway: TenantGateway, action: Action, carried: Carried): Promise<void> => {
  if (action.do === 'delete') return deleteObject(targets[action.what], action.object);
  if (action.do === 'own') return void (await targets.account.apply(action.desired));
  if (action.do === 'replace') return targets[action.what].replace(action.object, { spec: { listeners: action.listeners } });
  const outcome = await applyObject(targets[action.what], action.desired, action.live, (live) => isOurs(live, gateway));
  if (outcome.result === 'refused') carried.refused.push(outcome.message);
  if (outcome.result === 'written' && !action.live) carried.created = true;
};

/** Has cert-manager issue a Certificate anew, in the way of its own `cmctl renew`. */
export const renew = async (target: Pick<Target, 'apply'>, { apiVersion, kind, metadata: { namespace, name, uid, generation } }: Certificate, now: number): Promise<void> => {
  const issuing: Condition = { type: 'Issuing', status: 'True', reason: 'IssuerChanged', message: 'The gateway has another issuer', lastTransitionTime: timestamp(now), ...(generation && { observedGeneration: generation }) };
  await target.apply({ apiVersion, kind, metadata: { namespace, name, uid }, status: { conditions: [issuing] } }, 'status');
};

/**
 * Writes `status.parents` of a route. The list is atomic: an apply would drop the entries of other controllers or own
 * them, so it is replaced under the version that it was read at.
 */
export const updateRoute = async (client: Pick<KubeClient, 'json'>, { route, parents }: RouteUpdate): Promise<void> => {
  const { apiVersion, kind } = route;
  const { namespace, name, resourceVersion } = route.metadata;
  try {
    await client.json({
      method: 'PATCH',
      path: `${collectionPath({ apiVersion, kind: kind!, plural: `${kind!.toLowerCase()}s` }, namespace)}/${name}/status`,
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion }, status: { parents } },
    });
  } catch (error) {
    if (!hasCode(error, 404)) throw error; // the route is gone
  }
};
