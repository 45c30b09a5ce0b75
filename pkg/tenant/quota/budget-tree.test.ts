import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { exceeds, formatQuantity, parseQuantity, zero, type Quantity } from '../../quantity/quantity.ts';
import { namespaceOf } from '../names.ts';
import { BudgetTree, budgetFaults, type Budget, type UseOf } from './budget-tree.ts';

type Limits = Record<string, string | number>;

const quantity = (text: string | number): Quantity => parseQuantity(text)!;
const budget = (parentNamespace: string, name: string, limits: Limits = {}): Budget => ({
  tenant: `${parentNamespace}/${name}`,
  parentNamespace,
  namespace: namespaceOf(parentNamespace, name),
  limits: new Map(Object.entries(limits).map(([resource, limit]) => [resource, quantity(limit)])),
});
const uses = (used: Record<string, Limits>): UseOf => (namespace, resource) => quantity(used[namespace]?.[resource] ?? 0);
const nothing = uses({});

const tell = (others: Budget[], before: Budget | undefined, after: Budget, useOf = nothing): string[] =>
  budgetFaults(new BudgetTree([...others, ...(before ? [before] : [])]), before, after, useOf).map(
    ({ resource, why, want, remaining, head }) => `${resource} ${why} ${head}: ${formatQuantity(want)} of ${formatQuantity(remaining)}`,
  );

const root = budget('tenant-root', 'root', { cpu: 10, memory: '10Gi' });
const acme = budget('tenant-root', 'acme', { cpu: 4 });

interface Row {
  what: string;
  others?: Budget[];
  before?: Budget;
  after: Budget;
  used?: Record<string, Limits>;
  faults?: string[];
}

const rows: Row[] = [
  { what: 'within the budget', others: [root], after: acme },
  { what: 'exactly what remains', others: [root, budget('tenant-root', 'b', { cpu: 6 })], after: acme },
  { what: 'over what a sibling leaves', others: [root, budget('tenant-root', 'b', { cpu: '6001m' })], after: acme, faults: ['cpu over-parent tenant-root/root: 4 of 3999m'] },
  { what: 'over the whole', others: [root], after: budget('tenant-root', 'acme', { cpu: 11 }), faults: ['cpu over-parent tenant-root/root: 11 of 10'] },
  { what: 'no budget', others: [root, budget('tenant-root', 'b', { cpu: 10 })], after: budget('tenant-root', 'acme') },
  { what: 'a parent without budget', others: [budget('tenant-root', 'root')], after: acme },
  { what: 'no parent', after: acme },
  { what: 'two over', others: [root], after: budget('tenant-root', 'acme', { memory: '11Gi', cpu: 11 }), faults: ['cpu over-parent tenant-root/root: 11 of 10', 'memory over-parent tenant-root/root: 11Gi of 10Gi'] },
  { what: 'what the parent does not bound', others: [root], after: budget('tenant-root', 'acme', { pods: 1000 }) },
  { what: 'a grandchild within', others: [root, acme], after: budget('tenant-acme', 'web', { cpu: 4 }) },
  { what: 'a grandchild over its parent', others: [root, acme], after: budget('tenant-acme', 'web', { cpu: 5 }), faults: ['cpu over-parent tenant-root/acme: 5 of 4'] },
  { what: 'a grandchild over what only root bounds', others: [root, acme], after: budget('tenant-acme', 'web', { memory: '11Gi' }), faults: ['memory over-parent tenant-root/root: 11Gi of 10Gi'] },
  { what: 'a cousin that draws on the same pool', others: [root, acme, budget('tenant-acme', 'web', { memory: '9Gi' })], after: budget('tenant-root', 'b', { memory: '2Gi' }), faults: ['memory over-parent tenant-root/root: 2Gi of 1Gi'] },
  { what: 'what is in use of the pool', others: [root], after: acme, used: { 'tenant-root': { cpu: 7 } }, faults: ['cpu over-parent tenant-root/root: 4 of 3'] },
  { what: 'what an unbounded sibling uses', others: [root, budget('tenant-root', 'b')], after: acme, used: { 'tenant-b': { cpu: 7 } }, faults: ['cpu over-parent tenant-root/root: 4 of 3'] },
  { what: 'what a bounded sibling uses of its own', others: [root, budget('tenant-root', 'b', { cpu: 6 })], after: acme, used: { 'tenant-b': { cpu: 6 } } },
  { what: 'an update, its own carve-out aside', others: [root, budget('tenant-root', 'b', { cpu: 6 })], before: budget('tenant-root', 'acme', { cpu: 3 }), after: acme },
  { what: 'what it uses itself', others: [root], before: budget('tenant-root', 'acme'), after: acme, used: { 'tenant-acme': { cpu: 8 } } },
  { what: 'lowering below the children', others: [root, budget('tenant-acme', 'web', { cpu: 3 })], before: acme, after: budget('tenant-root', 'acme', { cpu: 2 }), faults: ['cpu below-children tenant-root/acme: 2 of -1'] },
  { what: 'bounding below the children', others: [root, budget('tenant-acme', 'web', { memory: '3Gi' })], before: acme, after: budget('tenant-root', 'acme', { cpu: 4, memory: '2Gi' }), faults: ['memory below-children tenant-root/acme: 2Gi of -1Gi'] },
  { what: 'lowering down to the children', others: [root, budget('tenant-acme', 'web', { cpu: 3 })], before: acme, after: budget('tenant-root', 'acme', { cpu: 3 }) },
  { what: 'raising root', others: [acme], before: root, after: budget('tenant-root', 'root', { cpu: 1000, memory: '10Gi' }) },
  { what: 'lowering root below its children', others: [acme], before: root, after: budget('tenant-root', 'root', { cpu: 3 }), faults: ['cpu below-children tenant-root/root: 3 of -1'] },
  { what: 'giving a bound up', others: [root, budget('tenant-acme', 'web', { cpu: 3 })], before: acme, after: budget('tenant-root', 'acme') },
  { what: 'keeping what would no longer be let in', others: [root, budget('tenant-root', 'b', { cpu: 9 })], before: acme, after: budget('tenant-root', 'acme', { cpu: '4000m', pods: 1 }) },
  { what: 'lowering what is too much', others: [root, budget('tenant-root', 'b', { cpu: 9 })], before: acme, after: budget('tenant-root', 'acme', { cpu: 3 }) },
  { what: 'raising what is too much', others: [root, budget('tenant-root', 'b', { cpu: 9 })], before: acme, after: budget('tenant-root', 'acme', { cpu: 5 }), faults: ['cpu over-parent tenant-root/root: 5 of 1'] },
];

describe('budgets down the tree', () => {
  for (const { what, others = [], before, after, used = {}, faults = [] } of rows) it(what, () => assert.deepEqual(tell(others, before, after, uses(used)), faults));

  it('never give more than there is, whatever is asked for', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(name, { maxLength: 3 });
    const limits = fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.nat(8), { maxKeys: 2 });
    fc.assert(
      fc.property(fc.array(fc.record({ path, limits })), (asked) => {
        const held = new Map<string, Budget>();
        for (const { path: names, limits: wanted } of asked) {
          const parents = names.slice(0, -1).reduce((namespace, each) => namespaceOf(namespace, each), 'tenant-root');
          const after = budget(parents, names.at(-1) ?? 'root', wanted);
          const isThere = (namespace: string): boolean => Array.from(held.values()).some((other) => other.namespace === namespace);
          if (names.length > 0 && !isThere(parents)) continue;
          if (budgetFaults(new BudgetTree(held.values()), held.get(after.tenant), after, nothing).length === 0) held.set(after.tenant, after);
        }
        const tree = new BudgetTree(held.values());
        for (const head of held.values()) {
          for (const [resource, limit] of head.limits) assert.ok(!exceeds(tree.pool(head, resource).carvedOut, limit), `${head.tenant} gives more ${resource} than it has`);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('have each namespace in one pool of a resource', () => {
    const budgets = [root, acme, budget('tenant-acme', 'web'), budget('tenant-acme-web', 'deep', { memory: '1Gi' }), budget('tenant-root', 'b')];
    const tree = new BudgetTree(budgets);
    const cpu = [root, acme].map((head) => tree.pool(head, 'cpu').namespaces);
    assert.deepEqual(cpu, [['tenant-root', 'tenant-b'], ['tenant-acme', 'tenant-acme-web', 'tenant-acme-web-deep']]);
    assert.deepEqual(tree.pool(root, 'memory').namespaces, ['tenant-root', 'tenant-acme', 'tenant-b', 'tenant-acme-web']);
    assert.equal(tree.pool(acme, 'cpu').carvedOut, zero);
  });
});
