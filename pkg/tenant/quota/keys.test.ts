import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { parseQuantity } from '../../quantity/quantity.ts';
import { defaultRatios, hardOf, keyFault, quantityFault, usedKeyOf, type AllocationRatios } from './keys.ts';

const ratiosOf = (cpu: string, memory: string, ephemeral: string): AllocationRatios => ({ cpu: parseQuantity(cpu)!, memory: parseQuantity(memory)!, 'ephemeral-storage': parseQuantity(ephemeral)! });
const ratios = ratiosOf(defaultRatios.cpu, defaultRatios.memory, defaultRatios['ephemeral-storage']);

describe('keys of quotas', () => {
  for (const { what, asked, hard, by = ratios } of [
    { what: 'nothing', asked: {}, hard: {} },
    { what: 'cpu', asked: { cpu: 4 }, hard: { 'limits.cpu': '4', 'requests.cpu': '400m' } },
    { what: 'cpu that does not divide', asked: { cpu: '15m' }, hard: { 'limits.cpu': '15m', 'requests.cpu': '2m' } },
    { what: 'cpu by another ratio', asked: { cpu: 4 }, by: ratiosOf('2.5', '1', '40'), hard: { 'limits.cpu': '4', 'requests.cpu': '1600m' } },
    { what: 'memory', asked: { memory: '8Gi' }, hard: { 'limits.memory': '8Gi', 'requests.memory': '8Gi' } },
    { what: 'memory by a ratio that does not divide', asked: { memory: '10' }, by: ratiosOf('10', '3', '40'), hard: { 'limits.memory': '10', 'requests.memory': '4' } },
    { what: 'ephemeral storage', asked: { 'ephemeral-storage': '40Gi' }, hard: { 'limits.ephemeral-storage': '40Gi', 'requests.ephemeral-storage': '1Gi' } },
    { what: 'storage', asked: { storage: '100Gi' }, hard: { 'requests.storage': '100Gi' } },
    { what: 'counts of objects', asked: { pods: 50, 'services.loadbalancers': '2' }, hard: { pods: '50', 'services.loadbalancers': '2' } },
    { what: 'a count that is not whole', asked: { pods: '1500m' }, hard: { pods: '2' } },
    { what: 'counts of any resource', asked: { 'count/deployments.apps': 3 }, hard: { 'count/deployments.apps': '3' } },
    { what: 'what is limits or requests already', asked: { 'limits.cpu': 2, 'requests.memory': '1Gi' }, hard: { 'limits.cpu': '2', 'requests.memory': '1Gi' } },
    { what: 'a storage class', asked: { 'fast.storageclass.storage.k8s.io/requests.storage': '1Ti' }, hard: { 'fast.storageclass.storage.k8s.io/requests.storage': '1Ti' } },
    { what: 'an extended resource', asked: { 'nvidia.com/gpu': 1 }, hard: { 'limits.nvidia.com/gpu': '1', 'requests.nvidia.com/gpu': '1' } },
    { what: 'huge pages', asked: { 'hugepages-2Mi': '4Mi' }, hard: { 'requests.hugepages-2Mi': '4Mi' } },
    { what: 'two keys for one bound', asked: { cpu: 4, 'limits.cpu': 3, 'requests.cpu': 1 }, hard: { 'limits.cpu': '3', 'requests.cpu': '400m' } },
    { what: 'less than nothing', asked: { cpu: '-1000' }, hard: { 'limits.cpu': '0', 'requests.cpu': '0' } },
    { what: 'no quantity', asked: { cpu: 'much', memory: {} }, hard: { 'limits.cpu': '0', 'limits.memory': '0', 'requests.cpu': '0', 'requests.memory': '0' } },
    { what: 'more than there is', asked: { memory: '1e60' }, hard: { 'limits.memory': '9223372036854775807', 'requests.memory': '9223372036854775807' } },
    { what: 'a key that no ResourceQuota takes', asked: { 'services.clusterip': 1, foo: 1, 'limits.hugepages-2Mi': 1, 'a b/c': 1 }, hard: {} },
  ]) it(`bound ${what}`, () => assert.deepEqual(hardOf(asked, by), hard));

  for (const [key, used] of [
    ['cpu', 'limits.cpu'],
    ['storage', 'requests.storage'],
    ['pods', 'pods'],
    ['count/tenants.apps.cozystack.io', 'count/tenants.apps.cozystack.io'],
    ['requests.cpu', 'requests.cpu'],
    ['nvidia.com/gpu', 'requests.nvidia.com/gpu'],
    ['hugepages-1Gi', 'requests.hugepages-1Gi'],
  ] as const) it(`see the use of ${key} in ${used}`, () => assert.equal(usedKeyOf(key), used));

  it('are at fault where a ResourceQuota does not take them', () => {
    assert.match(keyFault('services.clusterip')!, /no "limits.services.clusterip"/);
    assert.match(keyFault(`${'a'.repeat(254)}/b`)!, /takes no/);
    for (const key of ['cpu', 'pods', 'count/pods', 'nvidia.com/gpu', 'storage', 'requests.hugepages-2Mi']) assert.equal(keyFault(key), undefined, key);
    assert.deepEqual([quantityFault('-1'), quantityFault('x'), quantityFault(null), quantityFault(1)], ['is less than nothing', 'is no quantity', 'is no quantity', undefined]);
  });

  it('never bound a request above its limit', () =>
    fc.assert(
      fc.property(fc.constantFrom('cpu', 'memory', 'ephemeral-storage'), fc.nat(), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'e3'), (key, amount, suffix) => {
        const hard = hardOf({ [key]: `${amount}${suffix}` }, ratios);
        assert.ok(parseQuantity(hard[`requests.${key}`]!)!.nano <= parseQuantity(hard[`limits.${key}`]!)!.nano);
      }),
    ));
});
