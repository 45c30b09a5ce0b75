import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Loop } from '../../cmd/tenant-apiserver/loop.ts';
import { StatusError } from '../../pkg/kube/status-error.ts';
import { eventually } from '../poll.ts';
import { LoopWorld } from './loop-world.ts';
import { ownControlPlane } from './shared.ts';

const networking = (namespace: string): string => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
const rbac = 'rbac.authorization.k8s.io';
const bindings = (namespace: string): string => `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`;
const core = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;
const namesOf = (objects: KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name!).toSorted();

const budget = { cpu: 1, memory: '1Gi', 'count/configmaps': 3 };

describe('what a tenant gets', function () {
  this.timeout(120_000);
  let world: LoopWorld;
  let loop: Loop;

  before(async function () {
    this.timeout(20 * 60_000); // the control plane may have to be built
    world = await LoopWorld.create(await ownControlPlane());
    const roles = await readFile(path.join(import.meta.dirname, '../../manifests/tenant-roles/clusterroles.yaml'), 'utf8');
    for (const role of parseAllDocuments(roles)) await world.post(`/apis/${rbac}/v1/clusterroles`, role.toJS() as object);
    await world.post(core('tenant-root', 'secrets'), { metadata: { name: 'cozystack-values' }, stringData: { 'values.yaml': '_cluster: {root-host: example.org}' } });
    loop = world.startLoop('first');
    await world.createTenant('tenant-root', 'root', { host: 'example.org' });
    await world.tenantSays('tenant-root', 'root', 'Reconciled');
    await world.createTenant('tenant-root', 'acme', { etcd: true });
    await world.createTenant('tenant-root', 'metered', { resourceQuotas: budget });
    await world.createTenant('tenant-root', 'other');
    for (const name of ['other', 'metered']) await world.tenantSays('tenant-root', name, 'Reconciled');
    await world.tenantSays('tenant-root', 'acme', 'ModulesUnavailable'); // there is no Flux yet
    await world.createTenant('tenant-acme', 'dev');
    await world.tenantSays('tenant-acme', 'dev', 'Reconciled');
  });
  after(() => world?.stop());

  const installCrd = (group: string, version: string, plural: string, kind: string, scope = 'Namespaced'): Promise<unknown> =>
    world.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope,
        names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
      },
    });

  /** A tenant that is made now is ready only after what was asked for before. */
  const barrier = async (name: string): Promise<void> => {
    await world.createTenant('tenant-root', name);
    await world.tenantSays('tenant-root', name, 'Reconciled');
  };

  const ofTenant = async (): Promise<KubeObject[]> =>
    (
      await Promise.all(
        ['tenant-root', 'tenant-acme', 'tenant-acme-dev', 'tenant-metered'].flatMap((namespace) => [
          world.list(core(namespace, 'serviceaccounts')),
          world.list(core(namespace, 'limitranges')),
          world.list(bindings(namespace)),
          world.list(networking(namespace)),
          world.list(core(namespace, 'secrets')),
        ]),
      )
    )
      .flat()
      .concat(await Promise.all(['tenant-root', 'tenant-acme', 'tenant-acme-dev'].map(async (name) => (await world.find(`/api/v1/namespaces/${name}`))!)));

  it('is not written again by a leader that comes new to it', async () => {
    const versions = async (): Promise<string[]> => (await ofTenant()).map(({ metadata: { namespace, name, resourceVersion } }) => `${namespace}/${name} ${resourceVersion}`);
    const before = await versions();
    await loop.stop();
    loop = world.startLoop('second');
    await barrier('afterwards');
    assert.deepEqual(await versions(), before);
  });

  describe('access', () => {
    const actions = {
      'get tenants': { verb: 'get', group: 'apps.cozystack.io', resource: 'tenants' },
      'create tenants': { verb: 'create', group: 'apps.cozystack.io', resource: 'tenants' },
      'delete tenants': { verb: 'delete', group: 'apps.cozystack.io', resource: 'tenants' },
      'create buckets': { verb: 'create', group: 'apps.cozystack.io', resource: 'buckets' },
      'get gateways': { verb: 'get', group: 'gateway.cozystack.io', resource: 'tenantgateways' },
      'change gateways': { verb: 'patch', group: 'gateway.cozystack.io', resource: 'tenantgateways' },
      'get pods': { verb: 'get', group: '', resource: 'pods' },
      'delete pods': { verb: 'delete', group: '', resource: 'pods' },
      'get tenantsecrets': { verb: 'get', group: 'core.cozystack.io', resource: 'tenantsecrets' },
      'get secrets': { verb: 'get', group: '', resource: 'secrets' },
      'create rolebindings': { verb: 'create', group: rbac, resource: 'rolebindings' },
      'change quotas': { verb: 'patch', group: '', resource: 'resourcequotas' },
      'change records': { verb: 'patch', group: 'records.cozystack.io', resource: 'tenantrecords' },
    } as const;
    type ActionName = keyof typeof actions;
    const places = ['tenant-root', 'tenant-acme', 'tenant-acme-dev', 'tenant-other'];
    const tree = ['tenant-acme', 'tenant-acme-dev'];
    const reading: ActionName[] = ['get tenants', 'get gateways', 'get pods'];
    const administering: ActionName[] = [...reading, 'get tenantsecrets', 'create buckets', 'delete pods'];
    const owning: ActionName[] = [...administering, 'create tenants', 'delete tenants', 'create rolebindings'];
    const sets = (where: string[], what: ActionName[]): [ActionName, string[]][] => what.map((action) => [action, where]);

    const may = async (who: object, action: ActionName, namespace: string): Promise<boolean> => {
      const { verb, group, resource } = actions[action];
      const review = await world.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { ...who, resourceAttributes: { namespace, verb, group, resource } } });
      return (review['status'] as { allowed: boolean }).allowed;
    };
    const member = (group: string): object => ({ user: 'alice', groups: [group, 'system:authenticated'] });
    const serviceAccount = (namespace: string): object => ({
      user: `system:serviceaccount:${namespace}:${namespace}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    });

    before(() => eventually('the roles are put together', () => may(member('tenant-acme-super-admin'), 'get tenants', 'tenant-acme-dev')));

    for (const { who, as, allowed } of [
      { who: 'a stranger', as: member('tenant-nobody-super-admin'), allowed: [] },
      { who: 'a viewer', as: member('tenant-acme-view'), allowed: sets(tree, reading) },
      { who: 'a user', as: member('tenant-acme-use'), allowed: sets(tree, [...reading, 'get tenantsecrets']) },
      { who: 'an admin', as: member('tenant-acme-admin'), allowed: sets(tree, administering) },
      { who: 'the owner of a tree', as: member('tenant-acme-super-admin'), allowed: sets(tree, owning) },
      { who: 'the owner of a leaf', as: member('tenant-acme-dev-super-admin'), allowed: sets(['tenant-acme-dev'], owning) },
      { who: "root's owner", as: member('tenant-root-super-admin'), allowed: sets(places, owning) },
      {
        who: "a pod with a tenant's token",
        as: serviceAccount('tenant-acme'),
        allowed: [...sets(['tenant-acme'], administering.filter((action) => !reading.includes(action) && action !== 'get tenantsecrets')), ...sets(tree, [...reading, 'get tenantsecrets'])],
      },
    ] as { who: string; as: object; allowed: [ActionName, string[]][] }[]) {
      it(`of ${who} is what the table says, and no more`, async () => {
        const found: string[] = [];
        for (const action of Object.keys(actions) as ActionName[]) for (const place of places) if (await may(as, action, place)) found.push(`${action} in ${place}`);
        const expected = allowed.flatMap(([action, where]) => where.map((place) => `${action} in ${place}`));
        assert.deepEqual(found.toSorted(), expected.toSorted());
      });
    }
  });

  describe('quota', () => {
    const refusal = async (made: Promise<unknown>): Promise<string> => {
      const error = await made.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      assert.ok(error instanceof StatusError, 'it is refused');
      assert.equal(error.code, 403);
      return error.message;
    };

    before(() =>
      eventually('the quota counts', async () => {
        const quota = await world.find<KubeObject & { status?: { used?: object } }>(`${core('tenant-metered', 'resourcequotas')}/tenant-quota`);
        return quota?.status?.used && 'count/configmaps' in quota.status.used;
      }),
    );

    it('is what the tenant may have, in the words of ResourceQuota', async () => {
      const quota = await world.find<KubeObject & { spec: { hard: object } }>(`${core('tenant-metered', 'resourcequotas')}/tenant-quota`);
      assert.deepEqual(quota!.spec.hard, { 'count/configmaps': '3', 'limits.cpu': '1', 'limits.memory': '1Gi', 'requests.cpu': '100m', 'requests.memory': '1Gi' });
    });

    it('holds for counts of any resource', async () => {
      const make = (name: string): Promise<KubeObject> => world.post(core('tenant-metered', 'configmaps'), { metadata: { name } });
      const message = await refusal((async () => { for (const name of ['a', 'b', 'c', 'd']) await make(name); })());
      assert.match(message, /exceeded quota: tenant-quota, requested: count\/configmaps=1/);
    });

    const makePod = (name: string, cpu?: string): Promise<KubeObject> =>
      world.post(core('tenant-metered', 'pods'), { metadata: { name }, spec: { containers: [{ name: 'main', image: 'none', ...(cpu && { resources: { limits: { cpu }, requests: { cpu: '1m' } } }) }] } });

    it('holds for pods', async () => {
      await eventually('its ServiceAccount', () => world.find(`${core('tenant-metered', 'serviceaccounts')}/default`));
      assert.match(await refusal(makePod('large', '2')), /exceeded quota: tenant-quota, requested: limits.cpu=2/);
    });

    it('gives a pod that says nothing what fits into it', async () => {
      const pod = await makePod('plain');
      const { containers } = pod['spec'] as { containers: { resources: object }[] };
      assert.deepEqual(containers[0]!.resources, { limits: { cpu: '250m', 'ephemeral-storage': '2Gi', memory: '128Mi' }, requests: { cpu: '25m', 'ephemeral-storage': '50Mi', memory: '128Mi' } });
    });

    it('goes when the budget goes', async () => {
      await world.patch('/apis/records.cozystack.io/v1alpha1/namespaces/tenant-root/tenantrecords/metered', { spec: { resourceQuotas: null } });
      await eventually('no quota is left', async () => (await world.list(core('tenant-metered', 'resourcequotas'))).length + (await world.list(core('tenant-metered', 'limitranges'))).length === 0);
    });
  });

  describe('network', () => {
    it('is closed by policies that the kube-apiserver takes', async () => {
      assert.deepEqual(namesOf(await world.list(networking('tenant-acme'))), ['tenant-egress', 'tenant-etcd', 'tenant-ingress']);
      assert.deepEqual(namesOf(await world.list(networking('tenant-acme-dev'))), ['tenant-egress', 'tenant-ingress']);
      const all = (await world.list(networking('tenant-acme-dev'))).filter(({ metadata }) => metadata.name!.startsWith('tenant-')).map(({ spec }) => spec as { podSelector: object; policyTypes: string[] });
      assert.deepEqual(all.map(({ podSelector, policyTypes }) => [podSelector, policyTypes]), [[{}, ['Egress']], [{}, ['Ingress']]]);
    });

    it('opens the way to the kube-apiserver once it is known where that is', async () => {
      const slice = { metadata: { name: 'kubernetes' }, addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.10'] }], ports: [{ name: 'https', port: 6443 }] };
      await world.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', slice);
      const policy = await eventually('a policy', () => world.find(`${networking('tenant-acme')}/allow-to-apiserver`));
      assert.deepEqual((policy['spec'] as { egress: object[] }).egress, [{ to: [{ ipBlock: { cidr: '192.0.2.10/32' } }], ports: [{ port: 6443, protocol: 'TCP' }] }]);
      await eventually('the way back', async () => JSON.stringify(await world.find(`${networking('tenant-acme')}/tenant-ingress`)).includes('192.0.2.10/32'));
    });

    it('is closed again by one write when somebody opens it', async () => {
      const where = `${networking('tenant-acme')}/tenant-ingress`;
      const { generation = 0 } = (await world.find(where))!.metadata;
      await world.patch(where, { spec: { ingress: [{}] } });
      await eventually('it is closed', async () => !JSON.stringify((await world.find(where))!['spec']).includes('"ingress":[{}]'));
      await barrier('later');
      assert.equal((await world.find(where))!.metadata.generation, generation + 2);
    });

    it("has Cilium's own policies once Cilium is there", async () => {
      await Promise.all([installCrd('cilium.io', 'v2', 'ciliumnetworkpolicies', 'CiliumNetworkPolicy'), installCrd('cilium.io', 'v2', 'ciliumclusterwidenetworkpolicies', 'CiliumClusterwideNetworkPolicy', 'Cluster')]);
      const found = async (where: string): Promise<boolean> => (await world.find(where)) !== undefined;
      await eventually('both kinds of policies', async () =>
        (await found('/apis/cilium.io/v2/ciliumclusterwidenetworkpolicies/tenant-acme-ingress-etcd')) && found('/apis/cilium.io/v2/namespaces/tenant-acme-dev/ciliumnetworkpolicies/allow-to-dns'));
    });
  });

  describe('for charts', () => {
    const told = async (namespace: string): Promise<string> => {
      const secret = await world.find<KubeObject & { data: Record<string, string> }>(`${core(namespace, 'secrets')}/cozystack-values`);
      return Buffer.from(secret!.data['values.yaml']!, 'base64').toString();
    };

    it("are values that come down from the platform's, which are left alone", async () => {
      assert.match(await told('tenant-acme-dev'), /^_cluster:\n {2}root-host: example.org\n_namespace:\n[^]* host: dev.acme.example.org\n/);
      await world.patch(`${core('tenant-root', 'secrets')}/cozystack-values`, { stringData: { 'values.yaml': '_cluster: {root-host: example.net}' } });
      await eventually('the new ones are down', async () => (await told('tenant-acme-dev')).includes('root-host: example.net'));
      assert.equal(await told('tenant-root'), '_cluster: {root-host: example.net}');
    });

    it('is no module as long as nothing can provide it, and the tenant says which', async () => {
      const { status } = await world.tenantSays('tenant-root', 'acme', 'ModulesUnavailable');
      const condition = status?.conditions?.find(({ type }) => type === 'ModulesAvailable');
      assert.deepEqual([condition?.status, condition?.reason], ['False', 'ModulesUnavailable']);
      assert.match(condition!.message, /Nothing can provide etcd:/);
    });

    it('is a HelmRelease of each module once Flux is there', async () => {
      await installCrd('helm.toolkit.fluxcd.io', 'v2', 'helmreleases', 'HelmRelease');
      const collection = '/apis/helm.toolkit.fluxcd.io/v2/namespaces/tenant-acme/helmreleases';
      await eventually('both releases', async () => {
        const { status } = await world.admin.request({ path: collection });
        return status === 200 && (await world.list(collection)).length === 2;
      });
      assert.deepEqual(namesOf(await world.list(collection)), ['etcd', 'info']);
      const { status: waiting } = await world.tenantSays('tenant-root', 'acme', 'ModulesNotReady');
      assert.match(waiting!.conditions![0]!.message, /etcd \(its HelmRelease waits for Flux\)/);
      await world.patch(`${collection}/etcd`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
      await world.tenantSays('tenant-root', 'acme', 'Reconciled'); // which is what it asked for
    });
  });

  describe('that somebody touches, or that is no longer wanted,', () => {
    it('is put back by one write where somebody gave himself more', async () => {
      const where = `${bindings('tenant-acme')}/cozy:tenant:super-admin`;
      const before = (await world.find(where))!;
      await world.patch(where, { subjects: [{ apiGroup: rbac, kind: 'User', name: 'mallory' }] });
      const after = await eventually('the subjects are back', async () => {
        const binding = (await world.find(where))!;
        return !JSON.stringify(binding['subjects']).includes('mallory') && binding;
      });
      assert.deepEqual(after['subjects'], before['subjects']);
      await barrier('latest');
      assert.equal((await world.find(where))!.metadata.resourceVersion, after.metadata.resourceVersion);
    });

    it('goes with the tenant, and nothing of its sibling', async () => {
      const others = await world.list(bindings('tenant-other'));
      await world.deleteTenant('tenant-acme', 'dev');
      await eventually('the child is gone', async () => (await world.find('/api/v1/namespaces/tenant-acme-dev')) === undefined);
      await world.deleteTenant('tenant-root', 'acme');
      await eventually('the namespace is gone', async () => (await world.find('/api/v1/namespaces/tenant-acme')) === undefined);
      await eventually('the policies of the whole cluster are gone', async () =>
        (await world.list('/apis/cilium.io/v2/ciliumclusterwidenetworkpolicies')).every(({ metadata }) => !metadata.name!.startsWith('tenant-acme-')));
      assert.deepEqual(await world.list(bindings('tenant-other')), others);
    });
  });
});
