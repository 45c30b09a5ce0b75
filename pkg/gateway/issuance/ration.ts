import type { Action } from '../plan.ts';
import type { Certificate } from '../types.ts';
import type { Wait, Wanted } from './budget.ts';
import { registeredDomains, setOf } from './names.ts';

/** What of a plan may be done now. */
export interface Rationed {
  actions: Action[];
  waiting: Wait[];
}

/** The order that an action makes of the ACME server, if any: a Certificate that is new, or is to cover other names. */
export const orderOf = (action: Action, gateway: string, now: number): Wanted | undefined => {
  if (action.do !== 'apply' || action.what !== 'certificate') return undefined;
  const [desired, live] = [action.desired, action.live] as [Certificate, Certificate | undefined];
  const hosts = desired.spec?.dnsNames ?? [];
  const set = setOf(hosts);
  if (live && setOf(live.spec?.dnsNames ?? []) === set) return undefined;
  return { gateway, certificate: desired.metadata.name!, domains: registeredDomains(hosts), set, since: now };
};

/** The actions without those whose orders wait. A Certificate that is there stays as it is meanwhile. */
export const withoutWaiting = (actions: readonly Action[], waiting: readonly Wait[]): Action[] => {
  const held = new Set(waiting.map(({ wanted }) => wanted.certificate));
  return actions.filter((action) => action.do !== 'apply' || action.what !== 'certificate' || !held.has(action.desired.metadata.name!));
};
