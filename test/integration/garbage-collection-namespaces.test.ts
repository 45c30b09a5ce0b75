import assert from 'node:assert/strict';
import { eventually } from '../poll.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';
import { clientsOf, create, find, gatewayPath, gatewayRecordPath, tenantNamed, tenantPath, tenantRecordPath, type Clients } from './client.ts';

// The namespace controller deletes the virtual objects and their records, both, and waits for the finalizers.
describe('deletion of a namespace', () => {
  let cluster: Cluster;
  let clients: Clients;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
    clients = await clientsOf(cluster);
  });
  after(async () => {
    clients?.close();
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  const filled = async (prefix: string): Promise<string> => {
    const namespace = await makeNamespace(cluster, prefix);
    for (const name of ['one', 'two', 'three']) await create(clients.front, tenantPath(namespace), tenantNamed(name));
    const apex = `${prefix}.example.org`;
    await create(clients.front, gatewayPath(namespace), { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { name: 'gate' }, spec: { apex } });
    const tenant = await find(clients.front, tenantPath(namespace, 'one'));
    assert.ok(tenant?.metadata.finalizers?.length, 'a Tenant waits for the loop');
    return namespace;
  };
  const remove = (namespace: string): Promise<unknown> => clients.front.json({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  const isGone = (namespace: string) => async (): Promise<boolean> => (await find(clients.front, `/api/v1/namespaces/${namespace}`)) === undefined;
  const isEmpty = async (namespace: string): Promise<void> => {
    for (const path of [tenantPath, tenantRecordPath, gatewayPath, gatewayRecordPath]) {
      const { items } = await clients.front.json<{ items: unknown[] }>({ path: path(namespace) });
      assert.deepEqual(items, [], path(namespace));
    }
  };
  const conditionsOf = async (path: string): Promise<string[]> => {
    const { conditions = [] } = ((await find(clients.front, path))?.status ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.map(({ type, status }) => `${type}=${status}`);
  };

  it('empties it of tenants and gateways, and finishes', async function () {
    this.timeout(120_000);
    const namespace = await filled('emptied');
    await remove(namespace);
    await eventually('the namespace is gone', isGone(namespace), { withinMs: 90_000 });
    await isEmpty(namespace);
  });

  it('refuses new objects in it meanwhile, and says why', async () => {
    const namespace = await makeNamespace(cluster, 'ending');
    await create(clients.front, `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'holds', finalizers: ['example.org/hold'] } });
    await remove(namespace);
    await eventually('the server knows', async () => {
      const { status, body } = await clients.front.request({ method: 'POST', path: tenantPath(namespace), query: { dryRun: 'All' }, body: tenantNamed('late') });
      return status === 403 && /is being terminated/.test(body.toString());
    });
    await clients.front.json({ method: 'PATCH', path: `/api/v1/namespaces/${namespace}/configmaps/holds`, contentType: 'application/merge-patch+json', body: { metadata: { finalizers: null } } });
    await eventually('the namespace is gone', isGone(namespace), { withinMs: 60_000 });
  });

  it('waits while the server is down, also where no tenant ever was, and finishes when it is back', async function () {
    this.timeout(240_000);
    const namespace = await filled('waiting');
    const other = await makeNamespace(cluster, 'untouched');
    await cluster.server.stop();
    const apiService = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.apps.cozystack.io';
    await eventually('the kube-apiserver has seen it', async () => (await conditionsOf(apiService)).includes('Available=False'), { withinMs: 60_000 });
    await Promise.all([remove(namespace), remove(other)]);
    for (const waiting of [namespace, other]) {
      const path = `/api/v1/namespaces/${waiting}`;
      await eventually('the namespace says what it waits for', async () => (await conditionsOf(path)).includes('NamespaceDeletionDiscoveryFailure=True'), { withinMs: 60_000 });
    }
    assert.ok(await find(clients.front, tenantRecordPath(namespace, 'one')), 'the loop has not let go of it yet');
    await cluster.server.start();
    for (const waiting of [namespace, other]) await eventually('the namespace is gone', isGone(waiting), { withinMs: 120_000 });
    await isEmpty(namespace);
  });
});
