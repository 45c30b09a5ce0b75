import assert from 'node:assert/strict';
import type { KubeObject, KubeList } from '../../api/meta/v1/types.ts';
import { eventually } from '../poll.ts';
import { collectorPatience } from './collector-world.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';
import { clientsOf, create, find, patch, tenantNamed, tenantPath, tenantRecordPath, Watch, type Clients } from './client.ts';

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenantrecords.records.cozystack.io';

// What a record holds may not fit the kind's schema, after a downgrade or by another's hand. Such an object must not
// vanish: the garbage collector would delete what it owns.
describe('a record that does not fit its schema', () => {
  let cluster: Cluster;
  let clients: Clients;
  let namespace: string;
  let owner: KubeObject;
  let owned: KubeObject;
  let pid: number | undefined;
  let versions: unknown;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
    clients = await clientsOf(cluster);
    namespace = await makeNamespace(cluster, 'unreadable');
    pid = cluster.server.pid;
    owner = await create(clients.front, tenantPath(namespace), tenantNamed('broken'));
    owned = await create(clients.front, configMapPath(), { metadata: { name: 'kept', ownerReferences: [ownerReference(owner)] } });
    await create(clients.front, tenantPath(namespace), tenantNamed('sound'));
    await eventually('the loop has looked at it', async () => (await find(clients.front, tenantPath(namespace, 'broken')))?.status !== undefined);
    versions = (await find(clients.front, crdPath))?.spec;
    await loosen();
  });
  after(async () => {
    clients?.close();
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  const configMapPath = (name?: string): string => `/api/v1/namespaces/${namespace}/configmaps${name ? `/${name}` : ''}`;
  const ownerReference = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject): object => ({ apiVersion, kind, name, uid });

  /** Lets records hold anything. */
  const loosen = async (): Promise<void> => {
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const [version] = (versions as { versions: object[] }).versions;
    await patch(clients.front, crdPath, { spec: { versions: [{ ...version, schema: { openAPIV3Schema: anything } }] } });
    await eventually('a string passes for a spec', async () => {
      const { status } = await clients.records.request({
        method: 'PATCH', path: tenantRecordPath(namespace, 'sound'), query: { dryRun: 'All' }, contentType: 'application/merge-patch+json', body: { spec: 'text' },
      });
      return status === 200;
    });
  };
  const tighten = async (): Promise<void> => {
    await patch(clients.front, crdPath, { spec: { versions: (versions as { versions: object[] }).versions } });
  };
  const breakRecord = (fields: object): Promise<KubeObject> => patch(clients.records, tenantRecordPath(namespace, 'broken'), fields);
  const names = async (accept?: string): Promise<string[]> => {
    const list = await clients.front.json<KubeList & { rows?: { object: KubeObject }[] }>({ path: tenantPath(namespace), headers: { accept } });
    return (list.rows?.map(({ object }) => object) ?? list.items).map(({ metadata }) => metadata.name!);
  };
  const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;
  let probes = 0;
  /** The collector has seen all that was done before: it collects what is orphaned after that. */
  const collectorIsCurrent = async (): Promise<void> => {
    const name = `probe${(probes += 1)}`;
    const gone = await create(clients.front, tenantPath(namespace), tenantNamed(name));
    await create(clients.front, configMapPath(), { metadata: { name, ownerReferences: [ownerReference(gone)] } });
    await clients.front.json({ method: 'DELETE', path: tenantPath(namespace, name) });
    await eventually('the collector works', async () => (await find(clients.front, configMapPath(name))) === undefined, collectorPatience);
  };

  for (const { what, fields } of [
    { what: 'a spec that is a string', fields: { spec: 'text', status: null } },
    { what: 'no spec', fields: { spec: null } },
    { what: 'a spec that is a list', fields: { spec: [1, null] } },
    { what: 'fields of other types', fields: { spec: { host: 7, gateway: 'yes', resourceQuotas: [], etcd: {} } } },
    { what: 'a host that is an object', fields: { spec: { host: { a: 1 } } } },
    { what: 'a spec that is null inside, and more beside it', fields: { spec: { resourceQuotas: { cpu: {} } }, more: [{}] } },
  ]) {
    it(`is served with ${what}, and keeps what it owns`, async function () {
      this.timeout(120_000);
      const watch = await Watch.open(clients.front, tenantPath(namespace), { fieldSelector: 'metadata.name=broken' });
      const { metadata } = await breakRecord(fields);
      for (const accept of [undefined, as('Table'), as('PartialObjectMetadataList')]) assert.ok((await names(accept)).includes('broken'), accept ?? 'as it is');
      const got = await find(clients.front, tenantPath(namespace, 'broken'));
      assert.equal(got?.metadata.uid, owner.metadata.uid);
      await eventually('a watch tells of it', () => watch.events.some(({ type, object }) => type === 'MODIFIED' && object.metadata.resourceVersion === metadata.resourceVersion));
      watch.close();
      assert.deepEqual(watch.events.filter(({ type }) => type === 'DELETED' || type === 'ERROR'), []);
      await collectorIsCurrent();
      assert.deepEqual(await find(clients.front, configMapPath('kept')), owned);
      assert.equal(cluster.server.pid, pid);
    });
  }

  it('is served by a server that starts with a string for its spec', async function () {
    this.timeout(120_000);
    await breakRecord({ spec: 'text' });
    await cluster.server.stop();
    await cluster.server.start();
    pid = cluster.server.pid;
    await eventually('it is listed', async () => (await names()).includes('broken'));
    await collectorIsCurrent();
    assert.deepEqual(await find(clients.front, configMapPath('kept')), owned);
  });

  it('does not keep the loop from other tenants', async () => {
    const { metadata } = await create(clients.front, tenantPath(namespace), tenantNamed('another'));
    await eventually('the loop looks at another', async () => (await find(clients.front, tenantPath(namespace, metadata.name!)))?.status !== undefined);
  });

  it('can be put right, and deleted', async function () {
    this.timeout(120_000);
    await tighten();
    const repaired = await eventually('an update is taken', () => patch(clients.front, tenantPath(namespace, 'broken'), { spec: { host: '', gateway: false, etcd: true }, more: null }));
    assert.equal(repaired.metadata.uid, owner.metadata.uid);
    await collectorIsCurrent();
    assert.deepEqual(await find(clients.front, configMapPath('kept')), owned);
    await clients.front.json({ method: 'DELETE', path: tenantPath(namespace, 'broken') });
    for (const path of [tenantPath(namespace, 'broken'), configMapPath('kept')]) await eventually(`${path} is gone`, async () => (await find(clients.front, path)) === undefined);
    assert.equal(cluster.server.pid, pid);
  });
});
