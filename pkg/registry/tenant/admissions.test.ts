import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { AdmissionAttributes } from '../../admission/chain.ts';
import { StatusError } from '../../kube/status-error.ts';
import { parseQuantity } from '../../quantity/quantity.ts';
import type { Store } from '../../storage/store.ts';
import { WatchCache } from '../../storage/watch-cache.ts';
import { nothing } from '../../tenant/inheritance.ts';
import { adviceOn, type AroundTenant } from './advice.ts';
import { cordonAdmission } from './cordon-admission.ts';
import { treeAdmission } from './tree-admission.ts';

const ended = { deletionTimestamp: '2026-12-01T00:00:00Z' };
const mark = { 'projectcapsule.dev/cordoned': 'true' };
const cascade = { annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } };
const tenant = (namespace: string, name: string, metadata: object = {}, spec: object = {}): Tenant => ({
  apiVersion: 'apps.cozystack.io/v1alpha1',
  kind: 'Tenant',
  metadata: { namespace, name, uid: `${namespace}/${name}`, resourceVersion: '1', ...metadata },
  spec,
});

/** @param host what the host knows and the cache does not, by `namespace/name` */
const storeOf = (tenants: readonly Tenant[], { complete = true, host = {} as Record<string, Tenant>, fence = true } = {}): Store => {
  const cache = new WatchCache();
  if (complete) cache.replace([...tenants], '1');
  const get = async (namespace: string, name: string): Promise<KubeObject> => {
    const found = host[`${namespace}/${name}`];
    if (!found) throw StatusError.notFound({ group: 'apps.cozystack.io', resource: 'tenants' }, name);
    return found;
  };
  const version = async (): Promise<number> => {
    if (!fence) throw StatusError.unavailable('no');
    return 1;
  };
  return { cache, get, fence: { version } } as unknown as Store;
};

const request = (operation: AdmissionAttributes['operation'], namespace: string, name: string, rest: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation,
  kind: { group: 'apps.cozystack.io', version: 'v1alpha1', kind: 'Tenant' },
  resource: 'tenants',
  subresource: '',
  namespace,
  name,
  object: operation === 'DELETE' ? undefined : tenant(namespace, name),
  user: { username: 'alice', groups: [] } as unknown as AdmissionAttributes['user'],
  dryRun: false,
  undo: [],
  done: [],
  warn: () => undefined,
  annotate: () => undefined,
  ...rest,
});

const gateway = (operation: AdmissionAttributes['operation'], namespace: string): AdmissionAttributes =>
  request(operation, namespace, 'cozystack', { kind: { group: 'gateway.cozystack.io', version: 'v1alpha1', kind: 'TenantGateway' }, resource: 'tenantgateways' });

/** `code: message`, or undefined where the write is let in. */
const answer = async (plugin: ReturnType<typeof cordonAdmission>, attributes: AdmissionAttributes): Promise<string | undefined> => {
  if (!plugin.handles(attributes)) return undefined;
  try {
    await plugin.validate!(attributes);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    assert.ok(error.code === 503 || (error.status.details?.causes?.length ?? 0) > 0, 'a refusal has causes');
    return `${error.code}: ${error.message}`;
  }
};

describe('a cordon', () => {
  const tenants = [
    tenant('tenant-root', 'root'),
    tenant('tenant-root', 'acme', { labels: mark, annotations: mark }),
    tenant('tenant-acme', 'dev', { annotations: mark }),
    tenant('tenant-acme-dev', 'a'),
    tenant('tenant-root', 'other', { labels: { 'projectcapsule.dev/cordoned': 'false' } }),
    tenant('tenant-other', 'b'),
  ];
  const of = (name: string): string => `tenants.apps.cozystack.io "${name}" is forbidden: tenant tenant-root/acme is cordoned, and nothing changes below it as long as it is: to let changes in again, `;
  const commands = 'kubectl label tenants.apps.cozystack.io acme -n tenant-root projectcapsule.dev/cordoned- and kubectl annotate tenants.apps.cozystack.io acme -n tenant-root projectcapsule.dev/cordoned-';
  for (const { name, asked, says } of [
    { name: 'keeps new tenants out, with what to do', asked: request('CREATE', 'tenant-acme', 'new'), says: `403: ${of('new')}${commands}` },
    { name: 'reaches all below, and the topmost one is named', asked: request('UPDATE', 'tenant-acme-dev', 'a'), says: `403: ${of('a')}${commands}` },
    { name: 'keeps gateways as they are', asked: gateway('UPDATE', 'tenant-acme'), says: /^403: tenantgateways\.gateway\.cozystack\.io "cozystack" is forbidden: tenant tenant-root\/acme is cordoned/ },
    { name: 'keeps what is below from being deleted', asked: request('DELETE', 'tenant-acme', 'dev'), says: /^403: .*tenant tenant-root\/acme is cordoned/ },
    { name: 'keeps the tenant itself from being deleted', asked: request('DELETE', 'tenant-root', 'acme'), says: /^403: .*it is cordoned, and is not deleted as long as it is: to let/ },
    { name: 'can be taken off', asked: request('UPDATE', 'tenant-root', 'acme'), says: undefined },
    { name: 'leaves siblings alone', asked: request('CREATE', 'tenant-other', 'new'), says: undefined },
    { name: 'does not keep what is ending from its end', asked: request('UPDATE', 'tenant-acme', 'dev', { oldObject: tenant('tenant-acme', 'dev', ended) }), says: undefined },
    { name: 'is none of the business of a status', asked: request('UPDATE', 'tenant-acme', 'dev', { subresource: 'status' }), says: undefined },
    { name: 'does not hold up the garbage collector', asked: request('DELETE', 'tenant-acme', 'dev', { user: { username: 'system:serviceaccount:kube-system:generic-garbage-collector', groups: [] } as unknown as AdmissionAttributes['user'] }), says: undefined },
  ]) {
    it(name, async () => {
      const said = await answer(cordonAdmission({ storeOf: () => storeOf(tenants) }), asked);
      if (says instanceof RegExp) assert.match(said ?? '', says);
      else assert.equal(said, says);
    });
  }

  it('on root can be taken off again, although root is in its own namespace', async () => {
    const plugin = cordonAdmission({ storeOf: () => storeOf([tenant('tenant-root', 'root', { annotations: mark })]) });
    assert.equal(await answer(plugin, request('UPDATE', 'tenant-root', 'root')), undefined);
    assert.match((await answer(plugin, request('DELETE', 'tenant-root', 'root'))) ?? '', /it is cordoned/);
    assert.match((await answer(plugin, request('CREATE', 'tenant-root', 'new'))) ?? '', /tenant tenant-root\/root is cordoned/);
  });

  it('that cannot be judged refuses', async () => {
    const plugin = cordonAdmission({ storeOf: () => storeOf([], { complete: false }) });
    assert.match((await answer(plugin, request('UPDATE', 'tenant-root', 'a'))) ?? '', /^503/);
  });
});

describe('the place of a tenant', () => {
  const tenants = [tenant('tenant-root', 'acme'), tenant('tenant-acme', 'dev'), tenant('tenant-acme', 'gone', ended), tenant('tenant-root', 'ending', ended), tenant('tenant-ending', 'last', ended)];
  const invalid = (namespace: string, why: string): string => `422: Tenant.apps.cozystack.io "new" is invalid: metadata.namespace: Invalid value: "${namespace}": ${why}`;
  for (const { name, asked, says, host, requireParent = true, fence } of [
    { name: 'is below a tenant', asked: request('CREATE', 'tenant-acme', 'new'), says: undefined },
    { name: 'is below root before Tenant root is there', asked: request('CREATE', 'tenant-root', 'new'), says: undefined },
    { name: 'is root', asked: request('CREATE', 'tenant-root', 'root'), says: undefined },
    { name: 'is below one that was made a moment ago', asked: request('CREATE', 'tenant-fresh', 'new'), host: { 'tenant-root/fresh': tenant('tenant-root', 'fresh') }, says: undefined },
    { name: 'is in no namespace that is no tenant\'s', asked: request('CREATE', 'default', 'new'), says: invalid('default', 'is not the namespace of a tenant; create this one in tenant-root, or in the namespace of the tenant that it is to be below') },
    { name: 'is in no namespace whose tenant is not there', asked: request('CREATE', 'tenant-acme-nobody', 'new'), says: invalid('tenant-acme-nobody', 'belongs to no tenant: create Tenant nobody in namespace tenant-acme first') },
    { name: 'may be anywhere where an order of restore cannot be told', asked: request('CREATE', 'tenant-acme-nobody', 'new'), requireParent: false, says: undefined },
    { name: 'is not below one that is ending', asked: request('CREATE', 'tenant-ending', 'new'), says: '403: tenants.apps.cozystack.io "new" is forbidden: the tenant above, tenant-root/ending, is being deleted, and nothing new is made below it' },
    { name: 'is kept as long as tenants are below it', asked: request('DELETE', 'tenant-root', 'acme'), says: '403: tenants.apps.cozystack.io "acme" is forbidden: there are tenants below it, in namespace tenant-acme: dev; delete them first, or annotate this tenant with tenant.cozystack.io/deletion-policy=cascade to have all below it deleted with it' },
    { name: 'is given up with all below where that was asked for', asked: request('DELETE', 'tenant-root', 'acme', { oldObject: tenant('tenant-root', 'acme', cascade) }), says: undefined },
    { name: 'is given up where all below are ending', asked: request('DELETE', 'tenant-root', 'ending'), says: undefined },
    { name: 'is given up by a leaf', asked: request('DELETE', 'tenant-acme', 'dev'), says: undefined },
    { name: 'that is being given up may be given up again', asked: request('DELETE', 'tenant-root', 'acme', { oldObject: tenant('tenant-root', 'acme', ended) }), says: undefined },
    { name: 'is kept while nobody can tell what is below', asked: request('DELETE', 'tenant-root', 'acme'), fence: false, says: '503: the tenants below this one cannot be read; try again' },
    { name: 'is nothing that the namespace controller is asked about', asked: request('DELETE', 'tenant-root', 'acme', { user: { username: 'system:serviceaccount:kube-system:namespace-controller', groups: [] } as unknown as AdmissionAttributes['user'] }), says: undefined },
  ]) {
    it(name, async () => {
      const store = storeOf(tenants, { host, fence });
      assert.equal(await answer(treeAdmission({ store, requireParent }), asked), says);
    });
  }
});

describe('advice', () => {
  const around = (change: Partial<AroundTenant> = {}): AroundTenant => ({ above: { ...nothing, host: 'example.org' }, sameHost: [], children: () => 0, hasModules: true, useOf: () => parseQuantity(0)!, ...change });
  const acme = (spec: object, metadata: object = {}): Tenant => tenant('tenant-root', 'acme', metadata, spec);
  for (const { name, object, old, given = around(), says } of [
    { name: 'is not given where nothing is likely wrong', object: acme({ host: 'a.example.org', gateway: true, etcd: true, resourceQuotas: { cpu: 1 } }), says: [] },
    { name: 'is given of a host beside that of the tenant above', object: acme({ host: 'acme.test' }), says: [/^spec\.host: "acme\.test" is not below "example\.org"/] },
    { name: 'is not given of a host that stays', object: acme({ host: 'acme.test', etcd: false }), old: acme({ host: 'acme.test' }), says: [] },
    { name: 'is given of a host that ends like the one above and is none of it', object: acme({ host: 'evilexample.org' }), says: [/^spec\.host/] },
    { name: 'is given of a host that two have', object: acme({ host: 'a.example.org' }), given: around({ sameHost: ['tenant-root/b'] }), says: [/^spec\.host: .* is the host of tenant tenant-root\/b as well/] },
    { name: 'is given of a derived host that cannot be', object: acme({}), given: around({ above: { ...nothing, host: `${'a'.repeat(56)}.org` } }), says: [/^metadata\.name: the host ".*" has 65 characters/] },
    { name: 'is given of a gateway without a host', object: acme({ gateway: true }), given: around({ above: nothing }), says: [/^spec\.gateway: there is no host to serve/] },
    { name: 'is given of each module that nothing provides', object: acme({ etcd: true, ingress: true }), given: around({ hasModules: false }), old: acme({ ingress: true }), says: [/^spec\.etcd: nothing here can provide it/] },
    { name: 'is given of a budget below what is in use', object: acme({ resourceQuotas: { cpu: 1, memory: '1Gi' } }), old: acme({ resourceQuotas: { cpu: 4, memory: '1Gi' } }), given: around({ useOf: () => parseQuantity('2500m')! }), says: [/^spec\.resourceQuotas\[cpu\]: 1 is less than the 2500m in use/] },
    { name: 'is given of a scheduling class that has no effect', object: acme({ schedulingClass: 'slow' }), given: around({ above: { ...nothing, schedulingClass: 'fast' } }), says: [/^spec\.schedulingClass: "slow" has no effect, since a tenant above has "fast"/] },
    { name: 'is given of isolation that cannot be turned off', object: acme({ isolated: false }), says: [/^spec\.isolated has no effect/] },
    { name: 'is given of a cascade, with how many it reaches', object: acme({}, cascade), given: around({ children: () => 3 }), says: [/deletes all tenants below it, of which there are 3 directly below/] },
    { name: 'is given of a cascade once', object: acme({}, cascade), old: acme({}, cascade), says: [] },
    { name: 'does not hold root against anybody', object: tenant('tenant-root', 'root', {}, { host: 'new.test' }), says: [] },
  ]) {
    it(name, () => {
      const texts = adviceOn(object, old, given);
      assert.equal(texts.length, says.length, texts.join('\n'));
      for (const [index, pattern] of says.entries()) assert.match(texts[index]!, pattern);
    });
  }
});
