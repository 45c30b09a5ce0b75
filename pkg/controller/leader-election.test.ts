import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeRequest } from '../kube/client.ts';
import { StatusError } from '../kube/status-error.ts';
import { LeaderElection } from './leader-election.ts';
import type { Lease } from './lease.ts';
import { silentLog } from './log.ts';
import { ManualClock } from './manual-clock.ts';

const leases = { group: 'coordination.k8s.io', resource: 'leases' };

/** A kube-apiserver that knows one lease, and may be out of reach. */
const leaseServer = () => {
  const server = { lease: undefined as Lease | undefined, down: false, hangs: false, writes: 0 };
  let version = 1;
  const answer = ({ method = 'GET', body }: KubeRequest): Lease => {
    if (server.down) throw StatusError.unavailable('down');
    if (method === 'GET') {
      if (!server.lease) throw StatusError.notFound(leases, 'loop');
      return server.lease;
    }
    const sent = body as Lease;
    if (method === 'POST' && server.lease) throw StatusError.alreadyExists(leases, 'loop');
    if (method === 'PUT' && sent.metadata.resourceVersion !== server.lease?.metadata.resourceVersion) throw StatusError.conflict(leases, 'loop', 'changed');
    server.writes += 1;
    server.lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String((version += 1)) } };
    return server.lease;
  };
  const json = <T>(request: KubeRequest): Promise<T> =>
    server.hangs
      ? new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(request.signal!.reason as Error)))
      : Promise.resolve().then(() => answer(request) as T);
  return { server, json };
};

const world = (...identities: string[]) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
  const { server, json } = leaseServer();
  const told: string[] = [];
  const elections = identities.map((identity) => {
    const election = new LeaderElection({ client: { json }, namespace: 'cozy-system', name: 'loop', identity, log: silentLog, clock });
    election.run({
      onStartedLeading: () => void told.push(`${identity} leads`),
      onStoppedLeading: () => void told.push(`${identity} stops`),
    });
    return election;
  });
  const stop = async (election: LeaderElection): Promise<void> => {
    const stopping = election.stop();
    await clock.advance(0);
    await stopping;
  };
  return { clock, server, elections, told, stop };
};

describe('LeaderElection', () => {
  it('has one leader, who renews', async () => {
    const { clock, server, elections, told } = world('a', 'b');
    await clock.advance(60_000);
    assert.deepEqual(told, ['a leads']);
    assert.deepEqual(elections.map(({ isLeader }) => isLeader), [true, false]);
    assert.equal(server.lease?.spec?.renewTime, '2026-11-30T12:01:00.000000Z');
    assert.equal(server.lease?.spec?.leaseTransitions, 0);
  });

  it('passes on at once when the leader stops', async () => {
    const { clock, server, elections, told, stop } = world('a', 'b');
    await clock.advance(5000);
    await stop(elections[0]!);
    assert.equal(server.lease?.spec?.holderIdentity, '');
    await clock.advance(2400);
    assert.deepEqual(told, ['a leads', 'a stops', 'b leads']);
  });

  it('takes over from a leader that died, not before its lease has ended', async () => {
    const { clock, server, told } = world('b');
    server.lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { resourceVersion: '0' }, spec: { holderIdentity: 'dead', leaseDurationSeconds: 15 } };
    await clock.advance(14_000);
    assert.deepEqual(told, []);
    await clock.advance(4000);
    assert.deepEqual(told, ['b leads']);
  });

  for (const [how, fails] of [['refuses', 'down'], ['does not answer', 'hangs']] as const)
    it(`stops leading before others may take over when the kube-apiserver ${how}, and competes again`, async () => {
      const { clock, server, told } = world('a');
      await clock.advance(4000);
      server[fails] = true;
      await clock.advance(9000);
      assert.deepEqual(told, ['a leads']);
      await clock.advance(1500);
      assert.deepEqual(told, ['a leads', 'a stops']);
      server[fails] = false;
      await clock.advance(15_000);
      assert.deepEqual(told, ['a leads', 'a stops', 'a leads']);
    });

  it('goes on when its own write got through but the answer did not', async () => {
    const { clock, server, told } = world('a');
    await clock.advance(4000);
    server.lease = { ...server.lease!, metadata: { ...server.lease!.metadata, resourceVersion: '99' } };
    await clock.advance(10_000);
    assert.deepEqual(told, ['a leads']);
  });

  it('stops when another holds the lease', async () => {
    const { clock, server, told } = world('a');
    await clock.advance(4000);
    server.lease = { ...server.lease!, metadata: { resourceVersion: '99' }, spec: { holderIdentity: 'thief', leaseDurationSeconds: 15 } };
    await clock.advance(5000);
    assert.deepEqual(told, ['a leads', 'a stops']);
  });

  it('refuses times that cannot work', () => {
    const options = { client: leaseServer(), namespace: 'n', name: 'l', identity: 'a', log: silentLog };
    assert.throws(() => new LeaderElection({ ...options, leaseDurationMs: 10_000 }), /longer than the renew deadline/);
    assert.throws(() => new LeaderElection({ ...options, retryPeriodMs: 9000 }), /retry periods/);
  });
});
