import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { add, exceeds, parseQuantity, zero } from '../../quantity/quantity.ts';
import { defaultTenantSettings } from '../settings.ts';
import { budgetFor, limitsOf } from './budget.ts';
import { BudgetTree, type Budget } from './budget-tree.ts';
import { allocatedTo, overcommitments, poolsOf, type Pool } from './pools.ts';
import { quotaStatus } from './quota-status.ts';

type Limits = Record<string, string | number>;
interface Place {
  at: readonly [namespace: string, name: string];
  quotas?: Limits;
}

const root = (quotas: Limits): Place => ({ at: ['tenant-root', 'root'], quotas });
const child = (name: string, quotas?: Limits, namespace = 'tenant-root'): Place => ({ at: [namespace, name], ...(quotas && { quotas }) });

/** All pools of a tree, by the tenant that heads them. */
const poolsIn = (places: readonly Place[], used: Record<string, Limits> = {}, quotaBufferPercent = 100): Map<string, Map<string, Pool>> => {
  const budgets = places.map(({ at: [namespace, name], quotas = {} }): [Budget, Limits] => [budgetFor(namespace, name, limitsOf(quotas)), quotas]);
  const tree = new BudgetTree(budgets.map(([budget]) => budget));
  const useOf = (namespace: string, resource: string) => parseQuantity(used[namespace]?.[resource] ?? 0)!;
  return new Map(budgets.map(([budget, quotas]) => [budget.tenant, poolsOf(tree, budget, quotas, useOf, { ...defaultTenantSettings, quotaBufferPercent })]));
};
const allocations = (pools: ReadonlyMap<string, ReadonlyMap<string, Pool>>): Record<string, Record<string, string>> => {
  const all = Array.from(pools.values(), (each) => Array.from(each.values())).flat();
  const namespaces = [...new Set(all.flatMap((pool) => pool.namespaces))].toSorted();
  return Object.fromEntries(namespaces.flatMap((namespace) => {
    const hard = allocatedTo(namespace, all.filter((pool) => pool.namespaces.includes(namespace)));
    return hard ? [[namespace, hard]] : [];
  }));
};

describe('what shared pools leave to each namespace', () => {
  for (const { what, places, used, buffer, expected } of [
    { what: 'nothing is written for a tenant alone', places: [root({ pods: 10 })], expected: {} },
    { what: 'two that share a budget are each held to it', places: [root({ pods: 10 }), child('a')], expected: { 'tenant-a': { pods: '10' }, 'tenant-root': { pods: '10' } } },
    { what: 'what one uses, the others do not have', places: [root({ pods: 10 }), child('a')], used: { 'tenant-a': { pods: 4 } }, expected: { 'tenant-a': { pods: '10' }, 'tenant-root': { pods: '6' } } },
    { what: 'a carve-out leaves the rest', places: [root({ pods: 10 }), child('a', { pods: 7 })], expected: { 'tenant-root': { pods: '3' } } },
    { what: 'beyond what there is, others have nothing, not less', places: [root({ pods: 10 }), child('a')], used: { 'tenant-a': { pods: 12 } }, expected: { 'tenant-a': { pods: '10' }, 'tenant-root': { pods: '0' } } },
    { what: 'a buffer lets members together go beyond', places: [root({ pods: 10 }), child('a')], buffer: 130, expected: { 'tenant-a': { pods: '13' }, 'tenant-root': { pods: '13' } } },
    { what: 'no buffer is none', places: [root({ pods: 10 }), child('a')], buffer: 0, expected: { 'tenant-a': { pods: '10' }, 'tenant-root': { pods: '10' } } },
    { what: 'what the parent does not bound is never held to nothing', places: [root({ pods: 10 }), child('a', { services: 3 }), child('b', undefined, 'tenant-a')], expected: { 'tenant-a': { pods: '10', services: '3' }, 'tenant-a-b': { pods: '10', services: '3' }, 'tenant-root': { pods: '10' } } },
    { what: 'a tenant with a budget of one thing shares all else', places: [root({ pods: 10, memory: '4Gi' }), child('a', { pods: 7 })], used: { 'tenant-a': { 'limits.memory': '1Gi', 'requests.memory': '1Gi' } }, expected: { 'tenant-a': { 'limits.memory': '4Gi', 'requests.memory': '4Gi' }, 'tenant-root': { 'limits.memory': '3Gi', 'requests.memory': '3Gi', pods: '3' } } },
    { what: 'requests are shared in their own ratio', places: [root({ cpu: 10 }), child('a')], used: { 'tenant-a': { 'limits.cpu': 4, 'requests.cpu': '300m' } }, expected: { 'tenant-a': { 'limits.cpu': '10', 'requests.cpu': '1' }, 'tenant-root': { 'limits.cpu': '6', 'requests.cpu': '700m' } } },
    { what: 'counts of objects are shared', places: [root({ 'count/tenants.apps.cozystack.io': 3 }), child('a')], expected: { 'tenant-a': { 'count/tenants.apps.cozystack.io': '3' }, 'tenant-root': { 'count/tenants.apps.cozystack.io': '3' } } },
  ] as { what: string; places: Place[]; used?: Record<string, Limits>; buffer?: number; expected: object }[]) {
    it(what, () => assert.deepEqual(allocations(poolsIn(places, used, buffer)), expected));
  }

  it('tell of a parent that was lowered below its children before this was refused', () => {
    const pools = poolsIn([root({ pods: 5, services: 1 }), child('a', { pods: 7 })]);
    assert.deepEqual(overcommitments(pools.get('tenant-root/root')!), [{ key: 'pods', note: 'pods: tenants below have 7 and 0 is in use, of 5' }]);
  });

  it('do not tell of what nobody bounds, however much is used', () => {
    const pools = poolsIn([root({ pods: 5 }), child('a')], { 'tenant-a': { services: 100 } });
    assert.deepEqual(overcommitments(pools.get('tenant-root/root')!), []);
  });

  it('are told in the words of spec.resourceQuotas', () => {
    const pools = poolsIn([root({ cpu: 10, storage: '10Gi' }), child('a', { cpu: 4 }), child('b')], { 'tenant-b': { 'limits.cpu': '1500m', 'requests.storage': '1Gi' } });
    assert.deepEqual(quotaStatus(pools.get('tenant-root/root')!), {
      quota: { cpu: { limit: '10', carvedOut: '4', used: '1500m', remaining: '4500m' }, storage: { limit: '10Gi', carvedOut: '0', used: '1Gi', remaining: '9Gi' } },
      remaining: 'cpu: 4500m, storage: 9Gi',
    });
    assert.deepEqual(quotaStatus(pools.get('tenant-root/b')!), {});
  });

  it('never let one namespace have what another uses', () => {
    const names = ['a', 'b', 'c'];
    fc.assert(
      fc.property(fc.nat(20), fc.array(fc.nat(10), { minLength: 4, maxLength: 4 }), fc.array(fc.option(fc.nat(5), { nil: undefined }), { minLength: 3, maxLength: 3 }), (limit, used, carved) => {
        const places = [root({ pods: limit }), ...names.map((name, index) => child(name, carved[index] === undefined ? undefined : { pods: carved[index] }))];
        const usedBy = Object.fromEntries(['root', ...names].map((name, index) => [`tenant-${name}`, { pods: used[index]! }]));
        const pools = poolsIn(places, usedBy);
        const pool = pools.get('tenant-root/root')!.get('pods')!;
        for (const [namespace, { pods }] of Object.entries(allocations(new Map([['root', new Map([['pods', pool]])]])))) {
          const others = pool.namespaces.filter((other) => other !== namespace).map((other) => parseQuantity(usedBy[other]!.pods)!).reduce(add, zero);
          const total = [parseQuantity(pods!)!, others, pool.carvedOut].reduce(add);
          assert.ok(pods === '0' || !exceeds(total, pool.limit), `${namespace}: ${pods}`);
        }
      }),
    );
  });
});
