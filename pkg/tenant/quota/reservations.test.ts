import assert from 'node:assert/strict';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import { exceeds, formatQuantity, zero } from '../../quantity/quantity.ts';
import { budgetFor, limitsOf } from './budget.ts';
import { BudgetTree, type Budget } from './budget-tree.ts';
import type { Ledger, LedgerStore, Reservation } from './ledger.ts';
import { BudgetReservations, type Outcome } from './reservations.ts';

const holdMs = 90_000;
const conflict = (): StatusError => StatusError.conflict({ group: '', resource: 'configmaps' }, 'ledger', 'it was changed');
const budget = (namespace: string, name: string, quotas: Record<string, string | number> = {}): Budget => budgetFor(namespace, name, limitsOf(quotas));

/** The records and the ledger as the host keeps them, and replicas that see them as they are when they ask. */
class Host {
  readonly records = new Map<string, Budget>();
  ledger: Ledger = { version: '1', reservations: new Map() };
  ledgerWrites = 0;
  now = Date.UTC(2026, 10, 30);

  constructor(...budgets: Budget[]) {
    for (const each of budgets) this.records.set(each.tenant, each);
  }

  #set(reservations: ReadonlyMap<string, Reservation>): Ledger {
    this.ledgerWrites += 1;
    this.ledger = { version: String(Number(this.ledger.version) + 1), reservations };
    return this.ledger;
  }

  readonly store: LedgerStore = {
    read: async () => (await turn(), this.ledger),
    write: async ({ version, reservations }) => {
      await turn();
      if (version !== this.ledger.version) throw conflict();
      return this.#set(new Map(reservations));
    },
    remove: async (ids) => {
      await turn();
      return this.#set(new Map(Array.from(this.ledger.reservations).filter(([id]) => !ids.includes(id))));
    },
  };

  replica(identity: string): BudgetReservations {
    return new BudgetReservations({ ledger: this.store, identity, holdMs, useOf: () => zero, now: () => this.now, declared: async () => (await turn(), Array.from(this.records.values())) });
  }

  /** What a replica does with a request: true where it was let in and written. The write takes longer than others need to ask. */
  async put(replica: BudgetReservations, after: Budget, takesMs = 150): Promise<boolean> {
    const outcome = await replica.reserve(after);
    if (!('reserved' in outcome)) return false;
    await sleep(takesMs);
    this.records.set(after.tenant, after);
    await turn();
    outcome.reserved();
    return true;
  }

  /** The tenants that give more than they have. */
  overdrawn(): string[] {
    const tree = new BudgetTree(this.records.values());
    return Array.from(this.records.values()).flatMap((head) => Array.from(head.limits).flatMap(([resource, limit]) => {
      const { carvedOut } = tree.pool(head, resource);
      return exceeds(carvedOut, limit) ? [`${head.tenant}: ${formatQuantity(carvedOut)} of ${formatQuantity(limit)} ${resource}`] : [];
    }));
  }
}

const turns = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) await turn();
};

const root = budget('tenant-root', 'root', { cpu: 10 });
const refusedBy = (outcome: Outcome): string[] => ('faults' in outcome ? outcome.faults.map(({ head }) => head) : []);

describe('reservations of budgets', () => {
  for (const { replicas, requests } of [{ replicas: 1, requests: 50 }, { replicas: 2, requests: 50 }, { replicas: 3, requests: 60 }]) {
    it(`let 10 of ${requests} siblings in that ask for one each of ten, at ${replicas} replicas at once`, async () => {
      const host = new Host(root);
      const all = Array.from({ length: replicas }, (_, index) => host.replica(`r${index}`));
      const given = await Promise.all(Array.from({ length: requests }, (_, index) => host.put(all[index % replicas]!, budget('tenant-root', `t${index}`, { cpu: 1 }))));
      assert.equal(given.filter(Boolean).length, 10);
      assert.deepEqual(host.overdrawn(), []);
      await Promise.all(all.map((replica) => replica.stop()));
      assert.equal(host.ledger.reservations.size, 0);
      assert.ok(host.ledgerWrites <= 30, `${host.ledgerWrites} writes of the ledger`);
    });
  }

  it('write nothing for a dry run, and nothing where a budget is refused', async () => {
    const host = new Host(root);
    const replica = host.replica('r');
    assert.ok('reserved' in (await replica.reserve(budget('tenant-root', 'a', { cpu: 10 }), { dryRun: true })));
    assert.deepEqual(refusedBy(await replica.reserve(budget('tenant-root', 'a', { cpu: 11 }))), ['tenant-root/root']);
    assert.equal(host.ledgerWrites, 0);
  });

  it('that a killed replica leaves hold others up until they expire, and no longer', async () => {
    const host = new Host(root);
    await host.replica('killed').reserve(budget('tenant-root', 'a', { cpu: 8 }));
    const replica = host.replica('r');
    assert.equal(await host.put(replica, budget('tenant-root', 'b', { cpu: 2 })), true);
    const late = replica.reserve(budget('tenant-root', 'c', { cpu: 3 })); // only the reservation is in its way: it waits
    await turns(20);
    host.now += holdMs;
    assert.ok('reserved' in (await late));
    assert.deepEqual(Array.from(host.ledger.reservations.values(), (each) => each.budget.tenant), ['tenant-root/c']);
  });

  it('that stay for long have others told to try again, not that there is nothing', async () => {
    const host = new Host(root);
    await host.replica('other').reserve(budget('tenant-root', 'a', { cpu: 8 }));
    const replica = host.replica('r');
    const asked = replica.reserve(budget('tenant-root', 'b', { cpu: 3 }));
    await turns(20);
    host.now += 11_000;
    await assert.rejects(asked, (error) => hasCode(error, 429));
  });

  it('do not let a parent be lowered while a child is being made, nor the other way round', async () => {
    for (const first of ['parent', 'child']) {
      const host = new Host(root, budget('tenant-root', 'acme', { cpu: 8 }));
      const changes = { parent: budget('tenant-root', 'acme', { cpu: 2 }), child: budget('tenant-acme', 'dev', { cpu: 6 }) };
      const [one, two] = first === 'parent' ? [changes.parent, changes.child] : [changes.child, changes.parent];
      const [a, b] = [host.replica('a'), host.replica('b')];
      const given = await Promise.all([host.put(a, one), host.put(b, two)]);
      assert.equal(given.filter(Boolean).length, 1);
      assert.deepEqual(host.overdrawn(), []);
    }
  });

  it('of a write that surely failed are free at once', async () => {
    const host = new Host(root);
    const replica = host.replica('r');
    const outcome = await replica.reserve(budget('tenant-root', 'a', { cpu: 10 }));
    assert.ok('reserved' in outcome);
    const waiting = replica.reserve(budget('tenant-root', 'b', { cpu: 10 }));
    outcome.reserved();
    assert.ok('reserved' in (await waiting));
  });

  it('need the Tenants above, but for root, which may come last', async () => {
    const replica = new Host().replica('r');
    assert.ok('reserved' in (await replica.reserve(budget('tenant-root', 'a', { cpu: 1 }))));
    assert.deepEqual(await replica.reserve(budget('tenant-gone', 'a', { cpu: 1 })), { missing: 'tenant-gone' });
  });

  it('never give more than there is, whatever happens at once', () => {
    const places = [['tenant-root', 'root'], ['tenant-root', 'a'], ['tenant-root', 'b'], ['tenant-a', 'c'], ['tenant-a-c', 'd'], ['tenant-b', 'e']] as const;
    const change = fc.record({ place: fc.constantFrom(...places), limits: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.nat(8), { maxKeys: 2 }), takesMs: fc.constantFrom(0, 1, 80) });
    return fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
        const host = new Host(...places.map(([namespace, name]) => budget(namespace, name, name === 'root' ? { cpu: 8, memory: 8 } : {})));
        const replicas = [host.replica('a'), host.replica('b')];
        for (const round of rounds) {
          await Promise.all(round.map(({ place: [namespace, name], limits, takesMs }, index) => host.put(replicas[index % 2]!, budget(namespace, name, limits), takesMs)));
          assert.deepEqual(host.overdrawn(), []);
        }
        await Promise.all(replicas.map((replica) => replica.stop()));
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);
});
