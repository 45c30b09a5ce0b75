import assert from 'node:assert/strict';
import type { KubeList } from '../../api/meta/v1/types.ts';
import type { KubeClient, Query } from '../../pkg/kube/client.ts';
import type { Cluster } from './cluster.ts';
import { clientAt, create, patch, tenantNamed, tenantPath, tenantRecordNamed, tenantRecordPath, type Clients } from './client.ts';
import { sharedStoreWorld, type StoreWorld } from './store-world.ts';

const objects = 40;

describe('pages of a list', () => {
  let cluster: Cluster;
  let world: StoreWorld;
  let clients: Clients;
  let replicaClient: KubeClient;
  let namespaces: string[];
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    ({ cluster, clients, replicaClient } = world = await sharedStoreWorld('pages'));
    const { namespace: prefix } = world;
    namespaces = [prefix, `${prefix}-a`]; // `pages-1-1-a/…` comes before `pages-1-1/…`, as bytes
    await create(clients.front, '/api/v1/namespaces', { metadata: { name: namespaces[1] } });
    await Promise.all(Array.from({ length: objects }, (_, index) =>
      create(clients.front, tenantPath(namespaces[index % 2]), tenantNamed(`t${index}`, { labels: { pages: prefix, odd: String(index % 3 === 1) } }))));
  });
  after(async () => {
    if (namespaces) await clients.front.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespaces[1]}` });
    await world?.leave();
  });

  const linesOf = ({ items }: KubeList): string[] => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`);
  let changes = 0;
  const disturb = async (): Promise<void> => {
    changes += 1;
    const [namespace] = namespaces as [string];
    const labels = { pages: namespace, odd: 'true' };
    await create(clients.front, tenantPath(namespace), tenantNamed(`a${changes}`, { labels }));
    await create(clients.records, tenantRecordPath(namespace), tenantRecordNamed(`z${changes}`, { labels }));
    await patch(clients.front, tenantPath(namespace, `z${changes}`), { metadata: { annotations: { changed: 'yes' } } });
    await clients.front.json({ method: 'DELETE', path: tenantPath(namespace, `a${changes}`) });
  };

  for (const { what, everywhere, query } of [
    { what: 'of a namespace', everywhere: false, query: {} },
    { what: 'of all namespaces', everywhere: true, query: {} },
    { what: 'that a label selects', everywhere: true, query: { labelSelector: 'odd=true' } },
    { what: 'that a label leaves out', everywhere: false, query: { labelSelector: 'odd!=true' } },
  ] as { what: string; everywhere: boolean; query: Query }[]) {
    for (const { first, rest } of [{ first: 'server', rest: 'replica' }, { first: 'replica', rest: 'server' }, { first: 'records', rest: 'replica' }] as const) {
      it(`${what}, the first from the ${first} and the rest from the ${rest}, are one state in spite of changes`, async () => {
        const by = { server: clients.front, replica: replicaClient, records: clients.front };
        const path = everywhere ? tenantPath() : tenantPath(namespaces[0]);
        const recordPath = everywhere ? tenantRecordPath() : tenantRecordPath(namespaces[0]);
        const page = (from: keyof typeof by, token?: string): Promise<KubeList> =>
          by[from].json<KubeList>({ path: from === 'records' ? recordPath : path, query: { ...query, limit: 3, continue: token } });
        const begin = await page(first);
        const lines = linesOf(begin);
        for (let token = begin.metadata.continue; token; ) {
          await disturb();
          const next = await page(rest, token);
          assert.equal(next.metadata.resourceVersion, begin.metadata.resourceVersion);
          lines.push(...linesOf(next));
          token = next.metadata.continue;
        }
        const truth = await clients.front.json<KubeList>({
          path: recordPath, query: { ...query, resourceVersion: begin.metadata.resourceVersion, resourceVersionMatch: 'Exact' },
        });
        const ours = (text: string): boolean => namespaces.some((namespace) => text.startsWith(`${namespace}/`));
        assert.deepEqual(lines.filter(ours), linesOf(truth).filter(ours));
        assert.ok(lines.filter(ours).length > 10);
      });
    }
  }

  it('go on at a replica that started after the first, and so never had that state', async function () {
    this.timeout(120_000);
    const begin = await clients.front.json<KubeList>({ path: tenantPath(namespaces[0]), query: { limit: 5 } });
    await disturb();
    const late = await cluster.startReplica(['--run-loop=false']);
    const lateClient = clientAt(late.port, cluster.controlPlane.admin);
    const query = { limit: 5, continue: begin.metadata.continue };
    const [next, truth] = await Promise.all([
      lateClient.json<KubeList>({ path: tenantPath(namespaces[0]), query }),
      clients.front.json<KubeList>({ path: tenantRecordPath(namespaces[0]), query }),
    ]);
    lateClient.close();
    await late.replica.stop();
    assert.equal(next.metadata.resourceVersion, begin.metadata.resourceVersion);
    assert.deepEqual(linesOf(next), linesOf(truth));
    assert.equal(next.metadata.remainingItemCount, truth.metadata.remainingItemCount);
  });

  it('gives the same exact older version at the server, the replica and the records', async () => {
    const { metadata: { resourceVersion } } = await clients.front.json<KubeList>({ path: tenantPath(namespaces[0]) });
    await disturb();
    const query = { resourceVersion, resourceVersionMatch: 'Exact' };
    const [server, other, truth] = await Promise.all([
      clients.front.json<KubeList>({ path: tenantPath(namespaces[0]), query }),
      replicaClient.json<KubeList>({ path: tenantPath(namespaces[0]), query }),
      clients.front.json<KubeList>({ path: tenantRecordPath(namespaces[0]), query }),
    ]);
    assert.deepEqual(linesOf(server), linesOf(truth));
    assert.deepEqual(linesOf(other), linesOf(truth));
  });
});
