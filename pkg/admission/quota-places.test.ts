import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'mocha';
import { hasCode, StatusError } from '../kube/status-error.ts';
import { QuotaPlaces, type GiveBack } from './quota-places.ts';
import type { ResourceQuota } from './quota-charge.ts';

const counted = 'count/tenants.apps.cozystack.io';
const tenant = (name: string): { resource: string; name: string; kind: { group: string } } => ({ resource: 'tenants', name, kind: { group: 'apps.cozystack.io' } });

/** The quota as a host keeps it, with a replica's own view of it, which is as old as what the replica read or wrote last. */
class Host {
  live: ResourceQuota | undefined;
  writes = 0;

  constructor(hard: number) {
    this.live = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few', namespace: 'shop', resourceVersion: '1' }, status: { hard: { [counted]: String(hard) }, used: { [counted]: '0' } } };
  }

  get used(): string | undefined {
    return this.live?.status?.used?.[counted];
  }

  write(quota: ResourceQuota): ResourceQuota {
    if (!this.live) throw StatusError.notFound({ group: '', resource: 'resourcequotas' }, 'few');
    if (quota.metadata.resourceVersion !== this.live.metadata.resourceVersion) throw StatusError.conflict({ group: '', resource: 'resourcequotas' }, 'few', 'it was changed');
    this.writes += 1;
    this.live = { ...quota, metadata: { ...quota.metadata, resourceVersion: String(Number(quota.metadata.resourceVersion) + 1) } };
    return this.live;
  }

  replica(): QuotaPlaces {
    let known = this.live;
    return new QuotaPlaces({
      known: () => known,
      read: async () => (await turn(), (known = this.live)),
      write: async (quota) => (await turn(), (known = this.write(quota))),
    });
  }
}

const outcomes = async (taking: readonly Promise<GiveBack | undefined>[]): Promise<{ given: GiveBack[]; refused: number }> => {
  const settled = await Promise.allSettled(taking);
  for (const one of settled) if (one.status === 'rejected') assert.ok(hasCode(one.reason, 403), String(one.reason));
  return { given: settled.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : [])), refused: settled.filter(({ status }) => status === 'rejected').length };
};

describe('places in a quota', () => {
  for (const { replicas, hard } of [{ replicas: 1, hard: 7 }, { replicas: 2, hard: 7 }, { replicas: 3, hard: 0 }, { replicas: 2, hard: 40 }]) {
    it(`are taken by ${hard} of 40 at ${replicas} replicas at once`, async () => {
      const host = new Host(hard);
      const all = Array.from({ length: replicas }, () => host.replica());
      const { given, refused } = await outcomes(Array.from({ length: 40 }, (_, index) => all[index % replicas]!.take(tenant(`t${index}`))));
      assert.deepEqual([given.length, refused, host.used], [hard, 40 - hard, String(hard)]);
      assert.ok(host.writes <= 3 * replicas, `${host.writes} writes`);
    });
  }

  it('are given back, each once, while others are taken', async () => {
    const host = new Host(10);
    const replica = host.replica();
    const { given } = await outcomes(Array.from({ length: 6 }, (_, index) => replica.take(tenant(`t${index}`))));
    await Promise.all([given[0]!(), given[3]!(), replica.take(tenant('late')), given[5]!()]);
    assert.equal(host.used, '4');
  });

  it('are left to whoever counts where somebody else has written since', async () => {
    const host = new Host(10);
    const replica = host.replica();
    const { given } = await outcomes([replica.take(tenant('a')), replica.take(tenant('b'))]);
    host.write({ ...host.live!, status: { ...host.live!.status, used: { [counted]: '0' } } });
    await given[0]!().catch(() => undefined);
    assert.equal(host.used, '0');
    await outcomes([replica.take(tenant('c'))]);
    await given[1]!();
    assert.equal(host.used, '1');
  });

  it('are not needed once the quota is gone', async () => {
    const host = new Host(1);
    const replica = host.replica();
    host.live = undefined;
    assert.equal(await replica.take(tenant('a')), undefined);
  });
});
