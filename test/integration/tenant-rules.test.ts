import assert from 'node:assert/strict';
import type { Child } from '../../hack/controlplane/child.ts';
import type { Status } from '../../api/meta/v1/types.ts';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import { warningsOf, type KubeClient, type KubeResponse } from '../../pkg/kube/client.ts';
import { eventually } from '../poll.ts';
import { clientAt, clientsOf, create, find, gatewayPath, patch, tenantNamed, tenantPath, type Clients } from './client.ts';
import { sharedCluster, type Cluster } from './cluster.ts';

const cordoned = 'projectcapsule.dev/cordoned';
const namespacePath = (name: string): string => `/api/v1/namespaces/${name}`;

describe('rules for tenants', function () {
  this.timeout(120_000);
  let cluster: Cluster;
  let clients: Clients;
  let replica: Child;
  /** At a server that refuses tenants outside of the tree, which is the default. */
  let strict: KubeClient;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await sharedCluster();
    clients = await clientsOf(cluster);
    const started = await cluster.startReplica(['--run-loop=false', '--require-parent=true']);
    replica = started.replica;
    strict = clientAt(started.port, cluster.controlPlane.admin);
    await made('tenant-root', 'ruled');
    await made('tenant-ruled', 'dev');
    await made('tenant-root', 'b'.repeat(46));
    await clients.front.json({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'tenant-nobodys' } } });
    // Ends, and its namespace stays, because of the one below it.
    await made('tenant-root', 'closing', { annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } });
    await made('tenant-closing', 'held', { finalizers: ['example.org/hold'] });
    await clients.front.json({ method: 'DELETE', path: tenantPath('tenant-root', 'closing') });
  });
  after(async () => {
    await patch(clients.front, tenantPath('tenant-closing', 'held'), { metadata: { finalizers: ['tenant.cozystack.io/cleanup'] } }).catch(() => undefined);
    strict?.close();
    clients?.close();
    await replica?.stop('SIGKILL');
  });

  const made = async (namespace: string, name: string, metadata: object = {}): Promise<void> => {
    await create(clients.front, tenantPath(namespace), tenantNamed(name, metadata));
    const own = namespace === 'tenant-root' ? `tenant-${name}` : `${namespace}-${name}`;
    await eventually(`${own} is there`, () => find(clients.front, namespacePath(own)));
  };
  const statusOf = ({ status, body }: KubeResponse): Status & { code: number } => ({ ...(JSON.parse(body.toString()) as Status), code: status });

  const name = (of: string, why: string): string => `Tenant.apps.cozystack.io "${of}" is invalid: metadata.name: Invalid value: "${of}": ${why}`;
  const letters = "tenant names must start with a lower case letter and hold only lower case letters and digits: a dash would make the tenant's namespace ambiguous";
  const place = (namespace: string, why: string): string => `Tenant.apps.cozystack.io "new" is invalid: metadata.namespace: Invalid value: "${namespace}": ${why}`;
  const shared = (of: string, what: string, computed: string): string => name(of, `the ${what} "${computed}" would be this tenant's and that of "tenant-ruled" above it; choose another name`);
  for (const { what, namespace = 'tenant-root', called = 'new', code = 422, message, isHosts = false } of [
    { what: 'a dash', called: 'a-b', message: name('a-b', letters) },
    { what: 'a digit first', called: '2a', message: name('2a', letters) },
    { what: 'an upper-case letter', called: 'Acme', message: name('Acme', letters), isHosts: true },
    { what: '47 characters', called: 'a'.repeat(47), message: name('a'.repeat(47), 'must be no more than 46 characters: with the prefix "tenant-" it names a Helm release') },
    {
      what: 'a namespace of 64 characters',
      namespace: `tenant-${'b'.repeat(46)}`,
      called: 'c'.repeat(10),
      message: name('c'.repeat(10), `the tenant's namespace would be "tenant-${'b'.repeat(46)}-${'c'.repeat(10)}", which has 64 characters; at most 63 are allowed`),
    },
    { what: 'admins who would be super-admins above', namespace: 'tenant-ruled', called: 'super', message: shared('super', 'group or namespace', 'tenant-ruled-super-admin') },
    { what: 'a namespace called like the group of admins above', namespace: 'tenant-ruled', called: 'admin', message: shared('admin', 'group or namespace', 'tenant-ruled-admin') },
    { what: 'a namespace called like the group of viewers above', namespace: 'tenant-ruled', called: 'view', message: shared('view', 'group or namespace', 'tenant-ruled-view') },
    { what: 'a policy of the cluster called like one above', namespace: 'tenant-ruled', called: 'ingress', message: shared('ingress', 'cluster-wide policy', 'tenant-ruled-ingress-ingress') },
    { what: 'no tenant above it', namespace: 'default', message: place('default', 'is not the namespace of a tenant; create this one in tenant-root, or in the namespace of the tenant that it is to be below') },
    { what: 'a namespace above that belongs to nobody', namespace: 'tenant-nobodys', message: place('tenant-nobodys', 'belongs to no tenant: create Tenant nobodys in namespace tenant-root first') },
    {
      what: 'a tenant above that is ending',
      namespace: 'tenant-closing',
      code: 403,
      message: 'tenants.apps.cozystack.io "new" is forbidden: the tenant above, tenant-root/closing, is being deleted, and nothing new is made below it',
    },
  ]) {
    it(`refuse ${what}, whether it is created or applied`, async () => {
      const path = tenantPath(namespace);
      const created = statusOf(await strict.request({ method: 'POST', path, body: tenantNamed(called) }));
      assert.deepEqual([created.code, created.message], [code, message]);
      assert.ok(created.details!.causes!.length > 0);
      if (isHosts) return; // an apply of such a name is refused by the host first, as for any kind
      const query = { fieldManager: 'test', dryRun: 'All' };
      const applied = statusOf(await strict.request({ method: 'PATCH', path: `${path}/${called}`, query, contentType: 'application/apply-patch+yaml', body: tenantNamed(called) }));
      assert.deepEqual([applied.code, applied.message?.replace(/^.*? is (invalid|forbidden): /, '')], [code, message.replace(/^.*? is (invalid|forbidden): /, '')]);
    });
  }

  it('take what is in the tree', async () => {
    for (const [namespace, called] of [['tenant-root', 'super'], ['tenant-root', 'a1'], ['tenant-ruled', 'new']] as const) {
      assert.equal((await strict.request({ method: 'POST', path: tenantPath(namespace), query: { dryRun: 'All' }, body: tenantNamed(called) })).status, 201);
    }
  });

  it('keep what is ending until its namespace is gone, whoever takes its finalizers off', async () => {
    const path = tenantPath('tenant-root', 'closing');
    for (const finalizers of [null, []]) {
      const answer = await clients.front.request({ method: 'PATCH', path, query: { dryRun: 'All' }, contentType: 'application/merge-patch+json', body: { metadata: { finalizers } } });
      assert.deepEqual((JSON.parse(answer.body.toString()) as Tenant).metadata.finalizers, ['tenant.cozystack.io/cleanup']);
      assert.match(warningsOf(answer.headers)[0]!, /^metadata\.finalizers: tenant\.cozystack\.io\/cleanup stays until what belongs to the object is gone/);
    }
    await clients.front.request({ method: 'PATCH', path, contentType: 'application/json-patch+json', body: [{ op: 'remove', path: '/metadata/finalizers' }] });
    assert.ok(await find(clients.front, path));
  });

  it('refuse values of another type in the words of the schema, in the tree, too', async () => {
    for (const [host, type] of [[1, 'integer'], [true, 'boolean'], [['a'], 'array']] as const) {
      const message = `Tenant.apps.cozystack.io "new" is invalid: spec.host: Invalid value: "${type}": spec.host in body must be of type string: "${type}"`;
      assert.equal(statusOf(await strict.request({ method: 'POST', path: tenantPath('tenant-ruled'), body: { ...tenantNamed('new'), spec: { host } } })).message, message);
      const changed = await strict.request({ method: 'PATCH', path: tenantPath('tenant-ruled', 'dev'), contentType: 'application/merge-patch+json', body: { spec: { host } } });
      assert.equal(statusOf(changed).message, message.replace('"new"', '"dev"'));
    }
  });

  it('let nobody but the platform write what a tenant says of itself', async () => {
    const path = `${tenantPath('tenant-ruled', 'dev')}/status`;
    const headers = { 'impersonate-user': 'olga', 'impersonate-group': 'tenant-ruled-super-admin' };
    const answer = statusOf(await clients.front.request({ method: 'PATCH', path, headers, contentType: 'application/merge-patch+json', body: { status: { host: 'example.org' } } }));
    assert.deepEqual([answer.code, answer.message?.replace(/ \(.*\)/, '')], [403, 'tenants.apps.cozystack.io "dev" is forbidden: status can only be set, changed or removed by a member of a trusted group; User "olga" is in none of them. Leave status as it is, or ask a platform administrator']);
  });

  it('take a tenant with as many keys in its budget as anybody needs, and no more', async () => {
    const budget = (count: number): object => ({ ...tenantNamed('new'), spec: { resourceQuotas: Object.fromEntries(Array.from({ length: count }, (_, index) => [`count/r${index}.example.org`, 1])) } });
    assert.match(statusOf(await strict.request({ method: 'POST', path: tenantPath('tenant-ruled'), body: budget(20_000) })).message!, /spec\.resourceQuotas: Too many: 20000: must have at most 64 items$/);
    assert.equal((await strict.request({ method: 'POST', path: tenantPath('tenant-ruled'), query: { dryRun: 'All' }, body: budget(64) })).status, 201);
  });

  it('keep who has tenants below, until it says that they go with it', async () => {
    const path = tenantPath('tenant-root', 'ruled');
    const remove = async (): Promise<Status & { code: number }> => statusOf(await clients.front.request({ method: 'DELETE', path, query: { dryRun: 'All' } }));
    const { code, message } = await remove();
    assert.deepEqual([code, message], [403, 'tenants.apps.cozystack.io "ruled" is forbidden: there are tenants below it, in namespace tenant-ruled: dev; delete them first, or annotate this tenant with tenant.cozystack.io/deletion-policy=cascade to have all below it deleted with it']);
    const policy = (value: string | null): Promise<KubeResponse> => clients.front.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { metadata: { annotations: { 'tenant.cozystack.io/deletion-policy': value } } } });
    assert.match(statusOf(await policy('Cascade')).message!, /Unsupported value: "Cascade": supported values: "refuse", "cascade"/);
    assert.deepEqual(warningsOf((await policy('cascade')).headers), ['metadata.annotations[tenant.cozystack.io/deletion-policy]: whoever deletes this tenant deletes all tenants below it, of which there are 1 directly below']);
    assert.equal((await remove()).code, 200);
    assert.equal((await policy(null)).status, 200);
  });

  describe('under a cordon', () => {
    const owner = { 'impersonate-user': 'olga', 'impersonate-group': 'tenant-ruled-super-admin' };
    const mark = (value: string | null, at = 'labels', headers: Record<string, string> = owner): Promise<KubeResponse> =>
      clients.front.request({ method: 'PATCH', path: tenantPath('tenant-ruled', 'dev'), contentType: 'application/merge-patch+json', headers, body: { metadata: { [at]: { [cordoned]: value } } } });
    const dry = (method: 'POST' | 'DELETE', path: string, body?: object): Promise<KubeResponse> => clients.front.request({ method, path, query: { dryRun: 'All' }, body });
    const controller = { 'impersonate-user': 'system:kube-controller-manager', 'impersonate-group': 'system:masters' };
    const config = (namespace: string, headers = {}): Promise<KubeResponse> =>
      clients.front.request({ method: 'POST', path: `${namespacePath(namespace)}/configmaps`, query: { dryRun: 'All' }, headers, body: { metadata: { name: 'new' } } });
    const says = (reason: string | undefined): Promise<true> =>
      eventually(`dev says ${reason ?? 'nothing of a cordon'}`, async () => {
        const { status } = (await find(clients.front, tenantPath('tenant-ruled', 'dev'))) as Tenant;
        return status?.conditions?.find(({ type }) => type === 'Cordoned')?.reason === reason ? true : undefined;
      });

    for (const at of ['labels', 'annotations']) {
      it(`that its owner sets by ${at}, nothing changes below a tenant, and all does once the owner takes it off`, async () => {
        assert.equal((await mark('true', at)).status, 200);
        await says('Cordoned');
        const child = statusOf(await dry('POST', tenantPath('tenant-ruled-dev'), tenantNamed('new')));
        const command = at === 'labels' ? 'label' : 'annotate';
        assert.equal(child.message, `tenants.apps.cozystack.io "new" is forbidden: tenant tenant-ruled/dev is cordoned, and nothing changes below it as long as it is: to let changes in again, kubectl ${command} tenants.apps.cozystack.io dev -n tenant-ruled projectcapsule.dev/cordoned-`);
        const gateway = { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { name: 'mine' }, spec: { apex: 'dev.example.org' } };
        assert.match(statusOf(await dry('POST', gatewayPath('tenant-ruled-dev'), gateway)).message!, /"mine" is forbidden: tenant tenant-ruled\/dev is cordoned/);
        assert.match(statusOf(await dry('DELETE', tenantPath('tenant-ruled', 'dev'))).message!, /"dev" is forbidden: it is cordoned, and is not deleted as long as it is/);
        await eventually('the namespace is marked', async () => (await find(clients.front, namespacePath('tenant-ruled-dev')))?.metadata.labels?.[cordoned] === 'true');
        assert.equal((await dry('POST', tenantPath('tenant-ruled'), tenantNamed('new'))).status, 201);
        await eventually('what is in the namespace stays', async () => (await config('tenant-ruled-dev')).status === 403);
        assert.match(statusOf(await config('tenant-ruled-dev')).message!, /the tenant of namespace tenant-ruled-dev or one above it is cordoned, .* condition Cordoned of the Tenant names which/);
        assert.equal((await config('tenant-ruled-dev', controller)).status, 201, 'the cluster goes on');
        assert.equal((await dry('POST', '/apis/coordination.k8s.io/v1/namespaces/tenant-ruled-dev/leases', { metadata: { name: 'one' } })).status, 201);
        assert.equal((await config('tenant-ruled')).status, 201);
        assert.match(statusOf(await dry('DELETE', namespacePath('tenant-ruled-dev'))).message!, /the tenant of namespace tenant-ruled-dev or one above it is cordoned, and the namespace is not deleted as long as it is/);
        assert.equal((await dry('DELETE', namespacePath('tenant-ruled'))).status, 200);

        assert.equal((await mark(null, at)).status, 200);
        await says(undefined);
        await eventually('a child is let in', async () => (await dry('POST', tenantPath('tenant-ruled-dev'), tenantNamed('new'))).status === 201);
        await eventually('what is in the namespace may change', async () => (await config('tenant-ruled-dev')).status === 201);
        await eventually('the namespace may be deleted', async () => (await dry('DELETE', namespacePath('tenant-ruled-dev'))).status === 200);
        await eventually('the namespace is let go', async () => !(cordoned in ((await find(clients.front, namespacePath('tenant-ruled-dev')))?.metadata.labels ?? {})));
      });
    }

    it('on the one above, a tenant that was ending before goes on to its end, and its namespace with it', async () => {
      const above = (value: string | null): Promise<unknown> => patch(clients.front, tenantPath('tenant-root', 'ruled'), { metadata: { labels: { [cordoned]: value } } });
      const namespace = 'tenant-ruled-late';
      await made('tenant-ruled', 'late', { annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } });
      await made(namespace, 'held', { finalizers: ['example.org/hold'] });
      await clients.front.json({ method: 'DELETE', path: tenantPath('tenant-ruled', 'late') });
      await above('true');
      await patch(clients.front, namespacePath(namespace), { metadata: { labels: { [cordoned]: 'true' } } }); // the loop labels no namespace of an ending tenant
      await eventually('its namespace stays', async () => (await dry('DELETE', namespacePath(namespace))).status === 403);
      await eventually('what is below ends, too', async () => (await find(clients.front, tenantPath(namespace, 'held')))?.metadata.deletionTimestamp !== undefined);
      await patch(clients.front, tenantPath(namespace, 'held'), { metadata: { finalizers: ['tenant.cozystack.io/cleanup'] } });
      for (const path of [namespacePath(namespace), tenantPath('tenant-ruled', 'late')]) await eventually(`${path} is gone`, async () => (await find(clients.front, path)) === undefined, { withinMs: 60_000 });
      await above(null);
    });

    it('on the one above, who owns what is below takes nothing off', async () => {
      const above = (value: string | null): Promise<unknown> => patch(clients.front, tenantPath('tenant-root', 'ruled'), { metadata: { labels: { [cordoned]: value } } });
      await above('true');
      await eventually('it holds', async () => (await mark('true')).status === 403);
      assert.match(statusOf(await mark(null)).message!, /tenant tenant-root\/ruled is cordoned/);
      await above(null);
      await eventually('it is off', async () => (await mark(null)).status === 200);
    });
  });

  describe('warn', () => {
    const warnings = async (called: string, body: object, namespace = 'tenant-ruled'): Promise<string[]> => {
      const answer = await clients.front.request({ method: 'POST', path: tenantPath(namespace), query: { dryRun: 'All' }, body: { ...tenantNamed(called), ...body } });
      assert.equal(answer.status, 201, answer.body.toString());
      return warningsOf(answer.headers);
    };
    for (const { what, body, texts } of [
      { what: 'of nothing where nothing is likely wrong', body: { spec: { resourceQuotas: {} } }, texts: [] },
      { what: 'of a gateway that has no host', body: { spec: { gateway: true } }, texts: ['spec.gateway: there is no host to serve, here or above; the gateway is made once spec.host is set'] },
      { what: 'of modules without Flux', body: { spec: { etcd: true } }, texts: ["spec.etcd: nothing here can provide it, and the tenant is not Ready until something can: install Flux and Cozystack's packages, or set it to false"] },
      { what: 'of isolation that cannot be turned off', body: { spec: { isolated: true } }, texts: ['spec.isolated has no effect: every tenant is isolated'] },
    ]) it(what, async () => assert.deepEqual(await warnings('new', body), texts));

    it('in the namespace of no tenant of nothing', async () => assert.deepEqual(await warnings('new', { spec: { gateway: true, etcd: true } }, 'default'), []));
  });
});
