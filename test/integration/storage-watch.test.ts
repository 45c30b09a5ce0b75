import assert from 'node:assert/strict';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject, KubeList } from '../../api/meta/v1/types.ts';
import { tenantRecords } from '../../api/records/v1alpha1/records.ts';
import type { KubeClient, Query } from '../../pkg/kube/client.ts';
import { recordCodec } from '../../pkg/storage/records/codec.ts';
import { eventually } from '../poll.ts';
import { create, patch, tenantNamed, tenantPath, tenantRecordNamed, tenantRecordPath, Watch, type Clients, type WatchEvent } from './client.ts';
import { sharedStoreWorld, type StoreWorld } from './store-world.ts';

const codec = recordCodec(tenants, tenantRecords);
const writers = 8;
const roundsPerWriter = 12;

// What the records' own watch tells is the truth: a watch on tenants must tell the same in other words.
describe('watch on virtual objects', () => {
  let world: StoreWorld;
  let clients: Clients;
  let replicaClient: KubeClient;
  let namespace: string;
  let began: string;
  /** Each a watch that was open all the time: what it selects, at the records, the first server and a replica. */
  let watches: { what: string; query: Query; truth: Watch; told: { by: string; watch: Watch }[] }[];
  /** Open beside the tests, since its bookmark takes a minute to come. */
  let quiet: Watch;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    ({ clients, replicaClient, namespace } = world = await sharedStoreWorld('watched'));
    began = await version();
    watches = await Promise.all(
      [
        { what: 'everything', query: {} },
        { what: 'a label', query: { labelSelector: 'color=red' } },
        { what: 'the lack of a label', query: { labelSelector: '!color' } },
        { what: 'a set of labels', query: { labelSelector: 'color in (red,green)' } },
        { what: 'a name', query: { fieldSelector: 'metadata.name=w0' } },
        { what: 'other names', query: { fieldSelector: 'metadata.name!=w0' } },
      ].map(async ({ what, query }) => ({
        what, query,
        truth: await Watch.open(clients.front, tenantRecordPath(namespace), { ...query, resourceVersion: began }),
        told: await Promise.all([
          Watch.open(clients.front, tenantPath(namespace), { ...query, resourceVersion: began }).then((watch) => ({ by: 'the server', watch })),
          Watch.open(replicaClient, tenantPath(namespace), { ...query, resourceVersion: began }).then((watch) => ({ by: 'the replica', watch })),
        ]),
      })),
    );
    await Promise.all(Array.from({ length: writers }, (_, writer) => churn(writer)));
    await settled();
    quiet = await Watch.open(clients.front, tenantPath(namespace), { resourceVersion: await version(), fieldSelector: 'metadata.name=nobody', allowWatchBookmarks: true });
  });
  after(async () => {
    quiet?.close();
    for (const { truth, told } of watches ?? []) for (const watch of [truth, ...told.map((one) => one.watch)]) watch.close();
    await world?.leave();
  });

  const version = async (): Promise<string> => (await clients.front.json<KubeList>({ path: tenantPath(namespace) })).metadata.resourceVersion!;

  /** One object that is made, changes color, loses it, and is deleted, again and again; every other time past the server. */
  const churn = async (writer: number): Promise<void> => {
    const name = `w${writer}`;
    for (let round = 0; round < roundsPerWriter; round += 1) {
      const direct = (writer + round) % 2 === 0;
      const [client, path, object] = direct ? [clients.records, tenantRecordPath, tenantRecordNamed] as const : [clients.front, tenantPath, tenantNamed] as const;
      await eventually('the name is free', () => create(client, path(namespace), object(name, { labels: { color: ['red', 'blue'][round % 2]! } })).then(() => true, () => false));
      for (const color of ['green', 'red', null, 'red', 'blue']) await patch(client, path(namespace, name), { metadata: { labels: { color } } });
      await client.json({ method: 'DELETE', path: path(namespace, name) });
    }
  };
  /** The loop has let go of all that was deleted, and every watch has told so. */
  const settled = async (): Promise<void> => {
    await eventually('all is deleted', async () => (await clients.front.json<KubeList>({ path: tenantRecordPath(namespace) })).items.length === 0);
    await create(clients.front, tenantPath(namespace), tenantNamed('w0', { labels: { color: 'red' } }));
    await create(clients.front, tenantPath(namespace), tenantNamed('last', { labels: { color: 'red' } }));
    const all = watches[0]!.truth.events;
    await eventually('the loop has looked at both', () => ['last', 'w0'].every((name) => all.findLast(({ object }) => object.metadata.name === name)?.object.status));
    for (const { what, truth, told } of watches) {
      for (const { by, watch } of told) await eventually(`${by} has told all of ${what}`, () => watch.events.length >= truth.events.length);
    }
  };
  const line = ({ type, object }: WatchEvent): string => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`;
  const asVirtual = ({ type, object }: WatchEvent): { type: string; object: KubeObject } => ({ type, object: codec.toVirtual(object) });

  it('tells the events of the records, in their order and with their versions', () => {
    for (const { what, truth, told } of watches) {
      for (const { by, watch } of told) assert.deepEqual(watch.events.map(line), truth.events.map(line), `${by}: ${what}`);
    }
    console.log(`      ${watches.map(({ what, truth }) => `${what}: ${truth.events.length} events`).join(', ')}`);
    assert.ok(watches[0]!.truth.events.length > writers * roundsPerWriter * 6);
    for (const type of ['ADDED', 'MODIFIED', 'DELETED']) assert.ok(watches.every(({ truth }) => truth.events.some((event) => event.type === type)), type);
  });

  it('shows in each event the object as the record was', () => {
    for (const { what, truth, told } of watches) {
      for (const { by, watch } of told) truth.events.forEach((event, index) => assert.deepEqual(watch.events[index], asVirtual(event), `${by}: ${what}`));
    }
  });

  it('goes on from any version that an event had, without a gap or a repetition', async () => {
    const { told, query } = watches[0]!;
    const all = told[0]!.watch.events.map(line);
    const points = [0, 1, 2, ...Array.from({ length: 20 }, (_, index) => Math.floor(((index + 1) * all.length) / 21)), all.length - 2];
    await Promise.all(points.map(async (point) => {
      const { resourceVersion } = told[0]!.watch.events[point]!.object.metadata;
      const client = point % 2 ? clients.front : replicaClient;
      const resumed = await Watch.open(client, tenantPath(namespace), { ...query, resourceVersion });
      await eventually('what followed is told', () => resumed.events.length >= all.length - point - 1);
      resumed.close();
      assert.deepEqual(resumed.events.map(line), all.slice(point + 1));
    }));
  });

  it('is told in full by a client that is cut off again and again', async () => {
    const all = watches[0]!.told[0]!.watch.events.map(line);
    const seen: string[] = [];
    for (let resourceVersion = began; seen.length < all.length; ) {
      const watch = await Watch.open(seen.length % 2 ? clients.front : replicaClient, tenantPath(namespace), { resourceVersion });
      await eventually('something is told', () => watch.events.length > 0);
      const taken = watch.events.slice(0, 40);
      watch.close();
      seen.push(...taken.map(line));
      resourceVersion = taken.at(-1)!.object.metadata.resourceVersion!;
    }
    assert.deepEqual(seen, all);
  });

  it('marks the end of the initial state by a bookmark, from which it goes on', async () => {
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    const watch = await Watch.open(replicaClient, tenantPath(namespace), query);
    await eventually('the bookmark comes', () => watch.events.some(({ type }) => type === 'BOOKMARK'));
    const names = watch.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`);
    const { resourceVersion, annotations } = watch.events.at(-1)!.object.metadata;
    watch.close();
    assert.deepEqual(names, ['ADDED last', 'ADDED w0', 'BOOKMARK ']);
    assert.equal(annotations?.['k8s.io/initial-events-end'], 'true');

    const { metadata } = await patch(clients.front, tenantPath(namespace, 'last'), { metadata: { labels: { color: 'green' } } });
    const resumed = await Watch.open(clients.front, tenantPath(namespace), { resourceVersion });
    await eventually('the change is told', () => resumed.events.length > 0);
    resumed.close();
    assert.deepEqual(resumed.events.map(line), [`MODIFIED last ${metadata.resourceVersion}`]);
  });

  it('sends a bookmark when nothing happens, from which it goes on', async function () {
    this.timeout(120_000);
    // Later than what the tests before have changed.
    const changed = Number((await clients.front.json<KubeObject>({ path: tenantPath(namespace, 'last') })).metadata.resourceVersion);
    const { object } = await eventually('a bookmark comes within about a minute', () => quiet.events.find((event) => Number(event.object.metadata.resourceVersion) >= changed), { withinMs: 90_000 });
    quiet.close();
    assert.ok(quiet.events.every(({ type }) => type === 'BOOKMARK'));
    const resumed = await Watch.open(replicaClient, tenantPath(namespace), { resourceVersion: object.metadata.resourceVersion });
    const { metadata } = await patch(clients.front, tenantPath(namespace, 'last'), { metadata: { labels: { color: 'yellow' } } });
    await eventually('the change is told', () => resumed.events.length > 0);
    resumed.close();
    assert.deepEqual(resumed.events.map(line), [`MODIFIED last ${metadata.resourceVersion}`]);
  });
});
