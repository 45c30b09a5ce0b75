import assert from 'node:assert/strict';
import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import type { Answer, Call } from '../controlplane/request.ts';
import { applyExample, gatewayFault, missing, tenantFault, waitForExample } from './example.ts';

const condition = (type: string, status: 'True' | 'False', reason: string): Condition => ({ type, status, reason, message: 'words', lastTransitionTime: '2026-11-30T12:00:00Z' });
const object = (observedGeneration: number, ...conditions: Condition[]): any => ({ apiVersion: 'v1', kind: 'Any', metadata: { name: 'x', generation: 2 }, spec: {}, status: { observedGeneration, conditions } });
const answer = (status: number, body: unknown): Answer => ({ status, headers: {}, text: JSON.stringify(body), json: () => body as any });

describe('example tree', () => {
  for (const { name, tenant, fault } of [
    { name: 'that is not there', tenant: undefined, fault: 'T does not exist' },
    { name: 'whose status is about an earlier spec', tenant: object(1, condition('Ready', 'True', 'Reconciled')), fault: 'T was not looked at yet' },
    { name: 'that is not ready', tenant: object(2, condition('Ready', 'False', 'ParentNotFound')), fault: 'T is not ready: ParentNotFound: words' },
    { name: 'that is ready', tenant: object(2, condition('Ready', 'True', 'Reconciled')), fault: undefined },
  ]) it(`judges a tenant ${name}`, () => assert.equal(tenantFault('T', tenant), fault));

  for (const { name, gateway, fault } of [
    { name: 'without conditions', gateway: object(2), fault: 'G was not looked at yet' },
    { name: 'that only waits for a data plane', gateway: object(2, condition('Accepted', 'False', 'GatewayNotAccepted')), fault: undefined },
    { name: 'that cannot be made', gateway: object(2, condition('Accepted', 'False', 'ApiMissing')), fault: 'G was refused: ApiMissing: words' },
  ]) it(`judges a gateway ${name}`, () => assert.equal(gatewayFault('G', gateway), fault));

  it('names everything that is missing in an empty cluster', async () => {
    assert.deepEqual(await missing(async () => answer(404, {})), [
      'tenant tenant-root/root does not exist',
      'tenant tenant-root/acme does not exist',
      'tenant tenant-acme/dev does not exist',
      'gateways/cozystack in tenant-root does not exist',
      'gateways/cozystack in tenant-acme does not exist',
      'gateway tenant-acme/cozystack has no listener for app.dev.acme.example.org',
    ]);
  });

  it('applies each object once its namespace is there, again after a refusal, and goes on until stopped', async () => {
    const applied: string[] = [];
    const heard: string[] = [];
    const asked = new Map<string, number>();
    const send = async ({ method = 'GET', path, body }: Call): Promise<Answer> => {
      const times = (asked.get(`${method} ${path}`) ?? 0) + 1;
      asked.set(`${method} ${path}`, times);
      if (/^\/api\/v1\/namespaces\/tenant-acme$/.test(path) && times === 1) return answer(404, {});
      if (/^\/api\/v1\/namespaces\/[\w-]+$/.test(path)) return answer(200, { metadata: {} });
      if (method === 'GET') return answer(404, {});
      if (path.includes('/tenants/root') && times === 1) return answer(503, { message: 'later' });
      applied.push((body as KubeObject).metadata.name!);
      return answer(200, body);
    };
    await applyExample(send, () => false, (what) => heard.push(what));
    assert.deepEqual(applied, ['root', 'acme', 'dev', 'app']);
    assert.deepEqual(heard, ['Tenant tenant-root/root cannot be applied: later', 'namespace tenant-acme does not exist yet']);

    let looks = 0;
    await waitForExample(async () => { throw new Error('connect ECONNREFUSED'); }, () => (looks += 1) > 2, (what) => heard.push(what));
    assert.deepEqual(heard.slice(2), ['connect ECONNREFUSED', 'connect ECONNREFUSED']);
  });
});
