import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { hasCode } from '../kube/status-error.ts';
import { charge, type ResourceQuota } from './quota-charge.ts';

const counted = 'count/tenants.apps.cozystack.io';
const tenant = { resource: 'tenants', name: 'acme', kind: { group: 'apps.cozystack.io' } };
const quota = (status: ResourceQuota['status'], spec: ResourceQuota['spec'] = {}): ResourceQuota => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few', namespace: 'shop' }, spec, status });

describe('a resource quota', () => {
  it('takes one more', () => {
    const charged = charge(tenant, quota({ hard: { [counted]: '2', pods: '4' }, used: { [counted]: '1', pods: '3' } }));
    assert.deepEqual(charged?.status, { hard: { [counted]: '2', pods: '4' }, used: { [counted]: '2', pods: '3' } });
  });

  it('is used up', () =>
    assert.throws(
      () => charge(tenant, quota({ hard: { [counted]: '2' }, used: { [counted]: '2' } })),
      (error) => hasCode(error, 403) && error.message === `tenants.apps.cozystack.io "acme" is forbidden: exceeded quota: few, requested: ${counted}=1, used: ${counted}=2, limited: ${counted}=2`,
    ));

  for (const [limit, used, room] of [['1k', '999', true], ['1k', '1k', false], ['1Ki', '1023', true], ['x', '0', false], ['0', '0', false]] as const) {
    it(`of ${limit} with ${used} in use has ${room ? '' : 'no '}room`, () => {
      const attempt = (): unknown => charge(tenant, quota({ hard: { [counted]: limit }, used: { [counted]: used } }));
      if (room) assert.ok(attempt());
      else assert.throws(attempt, (error) => hasCode(error, 403));
    });
  }

  it('that was not counted yet lets nobody in', () => assert.throws(() => charge(tenant, quota({ hard: { [counted]: '2' } })), (error) => hasCode(error, 403) && error.message.includes('status unknown for quota: few')));

  for (const [name, other] of [
    ['of something else', quota({ hard: { pods: '1' }, used: { pods: '1' } })],
    ['without status', quota(undefined)],
    ['with scopes', quota({ hard: { [counted]: '0' }, used: { [counted]: '0' } }, { scopes: ['Terminating'] })],
  ] as const) it(`${name} says nothing`, () => assert.equal(charge(tenant, other), undefined));
});
