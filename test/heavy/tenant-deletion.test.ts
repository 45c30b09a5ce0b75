import assert from 'node:assert/strict';
import type { KubeList, KubeObject, Status } from '../../api/meta/v1/types.ts';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import { eventually } from '../poll.ts';
import { clientsOf, create, find, patch, tenantNamed, tenantPath, type Clients } from '../integration/client.ts';
import { sharedCluster } from '../integration/cluster.ts';

const policy = 'tenant.cozystack.io/deletion-policy';
const namespacePath = (name: string): string => `/api/v1/namespaces/${name}`;

// Whoever deletes: a client is refused what would take tenants along that nobody spoke of, and the finalizer holds to the order.
describe('deletion of tenants', function () {
  this.timeout(180_000);
  let clients: Clients;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    clients = await clientsOf(await sharedCluster());
  });
  after(() => clients?.close());

  /** Of a Tenant. @returns its own namespace, once it is there */
  const made = async (namespace: string, name: string, metadata: object = {}): Promise<string> => {
    await create(clients.front, tenantPath(namespace), tenantNamed(name, metadata));
    const own = namespace === 'tenant-root' ? `tenant-${name}` : `${namespace}-${name}`;
    await eventually(`${own} is there`, () => find(clients.front, namespacePath(own)));
    return own;
  };
  const ask = async (namespace: string, name: string): Promise<Status> => JSON.parse((await clients.front.request({ method: 'DELETE', path: tenantPath(namespace, name) })).body.toString()) as Status;
  const says = (namespace: string, name: string, pattern: RegExp): Promise<Tenant> =>
    eventually(`${namespace}/${name} says ${pattern}`, async () => {
      const tenant = (await find(clients.front, tenantPath(namespace, name))) as Tenant | undefined;
      const ready = tenant?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready && pattern.test(`${ready.reason}: ${ready.message}`) && tenant;
    }, { withinMs: 60_000 });
  const isGone = (path: string): Promise<true> => eventually(`${path} is gone`, async () => (await find(clients.front, path)) === undefined, { withinMs: 90_000 });
  /** All that a tenant has, by version. */
  const versionsIn = async (namespace: string): Promise<string[]> => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const collections = [`/api/v1/namespaces/${namespace}/serviceaccounts`, `/api/v1/namespaces/${namespace}/secrets`, `${rbac}/namespaces/${namespace}/rolebindings`, `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`];
    const lists = await Promise.all(collections.map((path) => clients.front.json<KubeList>({ path })));
    const objects: KubeObject[] = [...lists.flatMap(({ items }) => items), (await find(clients.front, namespacePath(namespace)))!];
    return objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();
  };

  it('with tenants below is refused, and cascades where the tenant says so: leaves first, and nothing of a sibling', async () => {
    const own = await made('tenant-root', 'felled');
    const dev = await made(own, 'dev');
    const leaf = await made(dev, 'leaf');
    const sibling = await made('tenant-root', 'felled2');
    await says('tenant-root', 'felled2', /^Reconciled/);
    await says(own, 'dev', /^Reconciled/);
    const before = await versionsIn(sibling);

    const refused = await ask('tenant-root', 'felled');
    assert.deepEqual([refused.code, refused.reason, refused.details?.causes?.[0]?.reason], [403, 'Forbidden', 'ChildrenExist']);
    assert.match(refused.message!, /there are tenants below it, in namespace tenant-felled: dev; delete them first, or annotate this tenant with tenant\.cozystack\.io\/deletion-policy=cascade/);
    assert.equal((await find(clients.front, tenantPath('tenant-root', 'felled')))?.metadata.deletionTimestamp, undefined);

    await patch(clients.front, tenantPath('tenant-root', 'felled'), { metadata: { annotations: { [policy]: 'cascade' } } });
    await patch(clients.front, tenantPath(dev, 'leaf'), { metadata: { finalizers: ['tenant.cozystack.io/cleanup', 'example.org/hold'] } });
    assert.equal((await ask('tenant-root', 'felled')).code, undefined);
    await says(own, 'dev', /^Terminating: Deletion waits for the tenants in namespace tenant-felled-dev: leaf \(held by finalizer example\.org\/hold\); they are deleted with it/);
    await isGone(namespacePath(leaf));
    assert.ok(await find(clients.front, namespacePath(dev)), 'what is above waits');
    const tenant = (await find(clients.front, tenantPath(dev, 'leaf')))!;
    await patch(clients.front, tenantPath(dev, 'leaf'), { metadata: { finalizers: tenant.metadata.finalizers!.filter((each) => each !== 'example.org/hold') } });
    for (const path of [namespacePath(dev), namespacePath(own), tenantPath('tenant-root', 'felled')]) await isGone(path);
    assert.deepEqual(await versionsIn(sibling), before);
  });

  it('by deletion of the namespace that they are in waits for those below, who are not touched, until somebody chooses', async () => {
    const own = await made('tenant-root', 'razed');
    const dev = await made(own, 'dev');
    const leaf = await made(dev, 'leaf');
    await says(dev, 'leaf', /^Reconciled/);
    const before = await versionsIn(leaf);
    const { uid } = (await find(clients.front, namespacePath(own)))!.metadata;
    await clients.front.json({ method: 'DELETE', path: namespacePath(own) });
    await says(own, 'dev', /^ChildrenExist: Deletion waits for the tenants in namespace tenant-razed-dev: leaf; delete them first/);
    await says('tenant-root', 'razed', /^NamespaceTerminating: .*it is made anew when it is gone: .*tenant\.cozystack\.io\/cleanup/);
    assert.deepEqual(await versionsIn(leaf), before);
    await patch(clients.front, tenantPath(own, 'dev'), { metadata: { annotations: { [policy]: 'cascade' } } });
    await isGone(namespacePath(leaf));
    await isGone(namespacePath(dev));
    await eventually('the namespace is made anew', async () => ![undefined, uid].includes((await find(clients.front, namespacePath(own)))?.metadata.uid), { withinMs: 90_000 });
    await says('tenant-root', 'razed', /^Reconciled/);
  });

  it('by the garbage collector waits for those below, too', async () => {
    const own = await made('tenant-root', 'collected');
    const config = await create(clients.front, `/api/v1/namespaces/${own}/configmaps`, { metadata: { name: 'owner' } });
    const dev = await made(own, 'dev', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: config.metadata.uid }] });
    const leaf = await made(dev, 'leaf');
    await says(dev, 'leaf', /^Reconciled/);
    const before = await versionsIn(leaf);
    await clients.front.json({ method: 'DELETE', path: `/api/v1/namespaces/${own}/configmaps/owner` });
    await says(own, 'dev', /^ChildrenExist: .*: leaf; delete them first/);
    assert.deepEqual(await versionsIn(leaf), before);
    await ask(dev, 'leaf');
    await isGone(namespacePath(dev));
    await isGone(tenantPath(own, 'dev'));
  });
});
