import type { Condition, KubeObject } from '../../../api/meta/v1/types.ts';
import { conditionOf } from '../../controller/conditions.ts';
import { issuerLabel } from '../names.ts';
import type { Action } from '../plan.ts';
import type { Certificate } from '../types.ts';
import type { Wait, Wanted } from './budget.ts';
import { registeredDomains, setOf } from './names.ts';

/** What of a plan may be done now. */
export interface Rationed {
  actions: Action[];
  waiting: Wait[];
  /** Certificates that are there and to be issued anew, by another issuer: before the actions are carried out. */
  renewals: Certificate[];
}

interface Wish {
  desired: Certificate;
  live: Certificate | undefined;
}

const wishOf = (action: Action): Wish | undefined => (action.do === 'apply' && action.what === 'certificate' ? (action as Wish) : undefined);

const hostsOf = ({ spec }: Certificate): readonly string[] => spec?.dnsNames ?? [];

/** Whether a Certificate was ordered elsewhere. Of those made before this was noted, that is not known. */
const isMoved = ({ desired, live }: Wish): boolean => {
  const before = live?.metadata.labels?.[issuerLabel];
  return before !== undefined && before !== desired.metadata.labels?.[issuerLabel];
};

const isSameSet = ({ desired, live }: Wish): boolean => live !== undefined && setOf(hostsOf(live)) === setOf(hostsOf(desired));

/** Whether cert-manager has taken an Issuer over as it is to be: until then it would order from the server that it had before. */
export const isTakenOver = (issuer: KubeObject | undefined, server: string | undefined): boolean => {
  const { spec, status, metadata } = (issuer ?? { metadata: {} }) as { metadata: KubeObject['metadata']; spec?: { acme?: { server?: string } }; status?: { conditions?: Condition[] } };
  const ready = conditionOf(status?.conditions, 'Ready');
  return spec?.acme?.server === server && ready?.status === 'True' && ready.observedGeneration === metadata.generation;
};

/** The actions without those that would have a Certificate issued anew by another issuer. */
export const withoutMoves = (actions: readonly Action[]): Action[] =>
  actions.filter((action) => {
    const wish = wishOf(action);
    return !wish || !isMoved(wish);
  });

/** The order that an action makes of the ACME server, if any: a Certificate that is new, or for other names, or of another issuer. */
export const orderOf = (action: Action, gateway: string, now: number): Wanted | undefined => {
  const wish = wishOf(action);
  if (!wish || (isSameSet(wish) && !isMoved(wish))) return undefined;
  const hosts = hostsOf(wish.desired);
  return { gateway, certificate: wish.desired.metadata.name!, domains: registeredDomains(hosts), set: setOf(hosts), since: now };
};

/** The actions without those whose orders wait: a Certificate that is there stays as it is meanwhile. */
export const rationed = (actions: readonly Action[], waiting: Wait[]): Rationed => {
  const held = new Set(waiting.map(({ wanted }) => wanted.certificate));
  const allowed = actions.filter((action) => !held.has(wishOf(action)?.desired.metadata.name ?? ''));
  const wishes = allowed.map(wishOf).filter((wish) => wish !== undefined);
  // cert-manager sees by itself that names differ, but not that an Issuer has another server.
  return { actions: allowed, waiting, renewals: wishes.flatMap((wish) => (isMoved(wish) && isSameSet(wish) ? [wish.live!] : [])) };
};
