import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { writeAdmitted, type AdmissionAttributes } from '../../admission/chain.ts';
import type { KubeClient, KubeRequest } from '../../kube/client.ts';
import { StatusError } from '../../kube/status-error.ts';
import { parseQuantity } from '../../quantity/quantity.ts';
import type { Store } from '../../storage/store.ts';
import { WatchCache } from '../../storage/watch-cache.ts';
import { budgetAdmission } from './budget-admission.ts';

type Quotas = Record<string, string | number>;
const signal = new AbortController().signal;

const tenant = (namespace: string, name: string, resourceQuotas?: Quotas, resourceVersion = '1'): KubeObject => ({
  apiVersion: 'apps.cozystack.io/v1alpha1',
  kind: 'Tenant',
  metadata: { namespace, name, resourceVersion },
  spec: resourceQuotas ? { resourceQuotas } : {},
});

/** The plugin among the Tenants that there are, with as much of a kube-apiserver as keeps one ConfigMap. */
const among = (tenants: readonly KubeObject[], used: Record<string, Quotas> = {}) => {
  const cache = new WatchCache();
  cache.replace([...tenants], '1');
  const requests: string[] = [];
  let fences = 0;
  let data: Record<string, string> = {};
  const client = {
    json: async ({ method = 'GET', body }: KubeRequest) => {
      requests.push(method);
      if (method === 'PUT') ({ data } = body as { data: Record<string, string> });
      if (method === 'PATCH') for (const id of Object.keys((body as { data: object }).data)) delete data[id];
      return { metadata: { resourceVersion: String(requests.length) }, data: { ...data } };
    },
  } as unknown as KubeClient;
  const store = { cache, fence: { version: async () => ((fences += 1), 1) } } as unknown as Store;
  const plugin = budgetAdmission({ client, store, namespace: 'cozy-system', identity: 'r', requestTimeoutMs: 60_000, useOf: (namespace, resource) => parseQuantity(used[namespace]?.[resource] ?? 0)! });
  const attributes = (object: KubeObject, oldObject?: KubeObject): AdmissionAttributes => ({
    operation: oldObject ? 'UPDATE' : 'CREATE',
    kind: { group: 'apps.cozystack.io', version: 'v1alpha1', kind: 'Tenant' },
    resource: 'tenants',
    subresource: '',
    namespace: object.metadata.namespace!,
    name: object.metadata.name!,
    object,
    ...(oldObject && { oldObject }),
    user: { username: 'alice', groups: [], extra: {} },
    dryRun: false,
    undo: [],
    done: [],
    warn: () => undefined,
    annotate: () => undefined,
  });
  /** Undefined where it is let in, else the cause. */
  const refusal = async (object: KubeObject, oldObject?: KubeObject): Promise<string | undefined> => {
    try {
      await plugin.validate!(attributes(object, oldObject));
      return undefined;
    } catch (error) {
      assert.ok(error instanceof StatusError && error.code === 422, String(error));
      return error.status.details!.causes!.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).join('; ');
    }
  };
  return { plugin, attributes, refusal, requests, cost: () => ({ requests: requests.length, fences }), reserved: () => Object.keys(data).length };
};

describe('what a user sees of budgets', () => {
  const root = (quotas?: Quotas): KubeObject => tenant('tenant-root', 'root', quotas);

  it('root is raised although its children have all of it', async () => {
    const old = root({ cpu: 4 });
    const { refusal } = among([old, tenant('tenant-root', 'a', { cpu: 4 })], { 'tenant-root': { 'limits.cpu': 3 } });
    assert.equal(await refusal(root({ cpu: 5 }), old), undefined);
  });

  it('root with children is changed elsewhere, and its budget is no obstacle', async () => {
    const old = root({ cpu: 4 });
    const { refusal } = among([old, tenant('tenant-root', 'a', { cpu: 4 }), tenant('tenant-root', 'b')], { 'tenant-b': { 'limits.cpu': 9 } });
    assert.equal(await refusal({ ...root({ cpu: 4 }), spec: { resourceQuotas: { cpu: '4000m' }, host: 'a.test' } }, old), undefined);
  });

  it('a sibling with less than nothing gives nobody more', async () => {
    const { refusal } = among([root({ cpu: 4 }), tenant('tenant-root', 'odd', { cpu: -1000 })]);
    assert.match((await refusal(tenant('tenant-root', 'a', { cpu: 5 })))!, /which is 4: tenant tenant-root\/root has 4, of which other tenants have 0/);
  });

  it('a budget of CPUs alone leaves the memory of the parent as it is', async () => {
    const { refusal } = among([root({ cpu: 4, memory: '4Gi' }), tenant('tenant-root', 'a', { cpu: 2 })]);
    assert.match((await refusal(tenant('tenant-a', 'b', { memory: '5Gi' })))!, /^FieldValueForbidden spec\.resourceQuotas\[memory\]: Forbidden: 5Gi is more than what remains, which is 4Gi: tenant tenant-root\/root/);
  });

  it('the same resource under another name is the same resource', async () => {
    const { refusal } = among([root({ cpu: 4, storage: '1Gi' })]);
    assert.match((await refusal(tenant('tenant-root', 'a', { 'limits.cpu': 5 })))!, /spec\.resourceQuotas\[limits\.cpu\]: Forbidden: 5 is more/);
    assert.match((await refusal(tenant('tenant-root', 'a', { 'requests.storage': '2Gi' })))!, /spec\.resourceQuotas\[requests\.storage\]: Forbidden: 2Gi is more/);
  });

  it('a parent cannot be lowered below its children', async () => {
    const old = root({ cpu: 4 });
    const { refusal } = among([old, tenant('tenant-root', 'a', { cpu: 3 })]);
    assert.match((await refusal(root({ cpu: 2 }), old))!, /Forbidden: 2 is less than the 3 that tenants below it have; lower theirs first, or give at least 3/);
  });

  it('a count of objects is a budget like any other', async () => {
    const counted = 'count/tenants.apps.cozystack.io';
    const { refusal } = among([root({ [counted]: 3 })], { 'tenant-root': { [counted]: 2 } });
    assert.match((await refusal(tenant('tenant-root', 'a', { [counted]: 2 })))!, /which is 1: .* and 2 is in use/);
  });

  it('a parent that is not there lets nothing pass', async () => {
    const { refusal } = among([root({ cpu: 4 })]);
    assert.match((await refusal(tenant('tenant-gone', 'a', { cpu: 1 })))!, /^FieldValueForbidden spec\.resourceQuotas: Forbidden: there is no Tenant for namespace tenant-gone/);
  });

  it('a limit of the parent that cannot be read leaves nothing to give', async () => {
    const { refusal } = among([root({ cpu: 'much' })]);
    assert.match((await refusal(tenant('tenant-root', 'a', { cpu: 1 })))!, /1 is more than what remains, which is 0/);
  });

  it('a tenant without a budget costs nothing, nor one whose budget stays', async () => {
    const old = tenant('tenant-root', 'a', { cpu: 1 });
    const { refusal, cost } = among([root({ cpu: 4 }), old]);
    assert.equal(await refusal(tenant('tenant-root', 'b')), undefined);
    assert.equal(await refusal({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old), undefined);
    assert.equal(await refusal(tenant('somewhere', 'c', { cpu: 100 })), undefined);
    assert.deepEqual(cost(), { requests: 0, fences: 0 });
  });

  it('one that cannot be written at the version that was judged is judged again', async () => {
    const old = tenant('tenant-root', 'a', { cpu: 9 }); // as it was when the client read it
    const { refusal } = among([root({ cpu: 4 }), tenant('tenant-root', 'a', { cpu: 1 }, '2')]);
    const { resourceVersion: _any, ...metadata } = old.metadata;
    assert.match((await refusal({ ...old, metadata }, old))!, /9 is more/);
  });

  for (const { what, outcome, left } of [
    { what: 'is written', outcome: async () => undefined, left: 0 },
    { what: 'is surely not written', outcome: async () => { throw StatusError.alreadyExists({ group: '', resource: 'tenants' }, 'a'); }, left: 0 },
    { what: 'may have been written', outcome: async () => { throw StatusError.timeout('too late'); }, left: 1 },
  ]) {
    it(`a budget that ${what} is ${left ? 'kept back' : 'no longer reserved'}`, async () => {
      const { plugin, attributes, reserved } = among([root({ cpu: 4 })]);
      const asked = attributes(tenant('tenant-root', 'a', { cpu: 1 }));
      await plugin.validate!(asked);
      assert.equal(reserved(), 1);
      await writeAdmitted(asked, signal, outcome).catch(() => undefined);
      await plugin.stop!();
      assert.equal(reserved(), left);
    });
  }
});
