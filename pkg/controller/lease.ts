import type { KubeObject } from '../../api/meta/v1/types.ts';
import { microTime } from './clock.ts';

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** A lease and when, by our own clock, it was first seen in this state: other clocks are not trusted. */
export interface ObservedLease {
  lease: Lease;
  since: number;
}

export type Claim = { kind: 'wait'; holder: string } | { kind: 'renew' | 'acquire'; spec: LeaseSpec };

/** client-go's rule: take the lease when it is free or was not renewed for its duration; renew it when it is ours. */
export const claimLease = (observed: ObservedLease, identity: string, leaseDurationMs: number, now: number): Claim => {
  const { holderIdentity = '', acquireTime, leaseTransitions = 0, leaseDurationSeconds } = observed.lease.spec ?? {};
  const taken = holderIdentity !== '' && holderIdentity !== identity;
  // The holder's own duration counts: it may run with other options.
  const heldForMs = leaseDurationSeconds === undefined ? leaseDurationMs : leaseDurationSeconds * 1000;
  if (taken && now < observed.since + heldForMs) return { kind: 'wait', holder: holderIdentity };
  const renewal = holderIdentity === identity;
  const spec: LeaseSpec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.round(leaseDurationMs / 1000)),
    acquireTime: renewal && acquireTime ? acquireTime : microTime(now),
    renewTime: microTime(now),
    leaseTransitions: renewal ? leaseTransitions : leaseTransitions + 1,
  };
  return { kind: renewal ? 'renew' : 'acquire', spec };
};
