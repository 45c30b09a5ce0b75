import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { claimLease, type LeaseSpec } from './lease.ts';

const now = Date.UTC(2026, 10, 30, 12);
const observed = (spec: LeaseSpec, ageMs: number) => ({ lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec }, since: now - ageMs });

describe('claimLease', () => {
  for (const { name, spec, ageMs, kind, transitions } of [
    { name: 'a new lease is taken', spec: {}, ageMs: 0, kind: 'acquire', transitions: 1 },
    { name: 'a lease that was given back is taken at once', spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 }, ageMs: 0, kind: 'acquire', transitions: 5 },
    { name: 'our own is renewed', spec: { holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 4 }, ageMs: 60_000, kind: 'renew', transitions: 4 },
    { name: "another's is left alone while it is fresh", spec: { holderIdentity: 'you', leaseDurationSeconds: 15 }, ageMs: 14_999, kind: 'wait', transitions: undefined },
    { name: "another's is taken when it has not changed for its duration", spec: { holderIdentity: 'you', leaseDurationSeconds: 15 }, ageMs: 15_000, kind: 'acquire', transitions: 1 },
    { name: "the holder's longer duration counts", spec: { holderIdentity: 'you', leaseDurationSeconds: 60 }, ageMs: 59_000, kind: 'wait', transitions: undefined },
    { name: 'clocks of others are not trusted', spec: { holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' }, ageMs: 1, kind: 'wait', transitions: undefined },
  ]) {
    it(name, () => {
      const claim = claimLease(observed(spec, ageMs), 'me', 15_000, now);
      assert.equal(claim.kind, kind);
      if (claim.kind !== 'wait') assert.equal(claim.spec.leaseTransitions, transitions);
    });
  }

  it('keeps the time of acquisition when renewing, and writes MicroTime', () => {
    const acquireTime = '2026-11-30T11:00:00.000000Z';
    const claim = claimLease(observed({ holderIdentity: 'me', acquireTime }, 0), 'me', 15_000, now);
    assert.deepEqual(claim.kind !== 'wait' && [claim.spec.acquireTime, claim.spec.renewTime], [acquireTime, '2026-11-30T12:00:00.000000Z']);
  });
});
