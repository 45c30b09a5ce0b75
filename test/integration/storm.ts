import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeList, KubeObject } from '../../api/meta/v1/types.ts';
import { eventually } from '../poll.ts';
import { clientsOf, create, tenantPath, tenantRecordNamed, tenantRecordPath, type Clients } from './client.ts';
import { makeNamespace, quietCluster, type Cluster } from './cluster.ts';
import { StormReader, type ReaderOptions } from './storm-reader.ts';

export interface StormOptions {
  events: number;
  /** Watches that read, at each of: the server, the kube-apiserver, the server as a Table. */
  readers: number;
  /** Watches that read nothing, at each of: the server, the server and the kube-apiserver as a Table. */
  stalled: number;
  /** What the server's resident memory may grow by, in MiB. */
  memoryMiB: number;
  timeoutMs: number;
}

const objects = 50;
const writers = 16;
/** An event's bytes, roughly: more of them than connections and the front hold for a reader that is slow. */
const eventBytes = 4_000;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** An update storm, with readers that take what comes and readers that do not: the first get all, the second are cut off, the server is unmoved. */
export const describeStorm = ({ events, readers, stalled, memoryMiB, timeoutMs }: StormOptions): void => {
  describe(`a storm of ${events} events`, () => {
    let cluster: Cluster;
    let clients: Clients;
    let namespace: string;
    let pid: number | undefined;
    let began: string;
    let reading: StormReader[];
    let waiting: StormReader[];
    /** Versions that writes were acknowledged with, in order. */
    let written: number[];
    let growthMiB = 0;

    before(async function () {
      this.timeout(20 * 60_000); // the components may have to be built
      cluster = await quietCluster();
      clients = await clientsOf(cluster);
      namespace = await makeNamespace(cluster, 'storm');
      pid = cluster.server.pid;
      await Promise.all(Array.from({ length: objects }, (_, index) => create(clients.records, tenantRecordPath(namespace), tenantRecordNamed(`t${index}`))));
      began = (await clients.server.json<KubeList>({ path: tenantPath(namespace) })).metadata.resourceVersion!;
      reading = await open(readers, places());
      waiting = await open(stalled, stalledPlaces(), true);
      await weather();
    });
    after(async () => {
      for (const reader of [...(reading ?? []), ...(waiting ?? [])]) reader.close();
      clients?.close();
      await cluster?.server.stop('SIGKILL');
      await cluster?.controlPlane.stop();
    });

    const places = (): Partial<ReaderOptions>[] => [{ port: cluster.port }, {}, { port: cluster.port, accept: asTable }];
    const stalledPlaces = (): Partial<ReaderOptions>[] => [{ port: cluster.port }, { port: cluster.port, accept: asTable }, { accept: asTable }]; // rows are made for each watch of its own
    const open = (count: number, each: Partial<ReaderOptions>[], paused = false): Promise<StormReader[]> => Promise.all(Array.from({ length: count }, () => each).flat().map((place) => read({ ...place, paused })));
    const read = (options: Partial<ReaderOptions>, resourceVersion = began): Promise<StormReader> =>
      StormReader.open({ controlPlane: cluster.controlPlane, path: `${tenantPath(namespace)}?watch=1&resourceVersion=${resourceVersion}`, ...options });
    const residentMiB = async (): Promise<number> => Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

    /** Writes as a kube-apiserver would, which itself takes ten times as long for it, and looks at the server's memory meanwhile. */
    const weather = async (): Promise<void> => {
      const filling = 'x'.repeat(eventBytes);
      const before = await residentMiB();
      const versions: number[] = [];
      const { controlPlane } = cluster;
      const stored = await Promise.all(Array.from({ length: objects }, async (_, index) => {
        const key = base64(`/registry/records.cozystack.io/tenantrecords/${namespace}/t${index}`);
        const { kvs } = await controlPlane.etcd<{ kvs: { value: string }[] }>('range', { key });
        return { key, object: JSON.parse(Buffer.from(kvs[0]!.value, 'base64').toString()) as KubeObject };
      }));
      let turn = 0;
      let over = false;
      const write = async (writer: number): Promise<void> => {
        for (let round = 0; (turn += 1) <= events; round += 1) {
          const { key, object } = stored[(round * writers + writer) % objects]!;
          const value = base64(JSON.stringify({ ...object, metadata: { ...object.metadata, annotations: { filling: `${turn} ${filling}` } } }));
          const { header } = await controlPlane.etcd<{ header: { revision: string } }>('put', { key, value });
          versions.push(Number(header.revision));
        }
      };
      const look = async (): Promise<void> => {
        for (; !over; await sleep(200)) growthMiB = Math.max(growthMiB, (await residentMiB()) - before);
      };
      const looking = look();
      await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => (over = true));
      await looking;
      written = versions.toSorted((a, b) => a - b);
    };

    it('is told in full and in order to every watch that reads', async function () {
      this.timeout(timeoutMs);
      assert.equal(written.length, events);
      for (const [index, reader] of reading.entries()) {
        await eventually(`reader ${index} has all`, () => reader.told.length >= events || reader.isOver, { withinMs: timeoutMs / 2 });
        assert.deepEqual([reader.told.length, reader.isOver], [events, false], `reader ${index}, told up to ${reader.told.at(-1)}`);
        assert.deepEqual(reader.versions, written);
        assert.ok(reader.told.every((line) => line.startsWith('MODIFIED@')));
      }
    });

    it('leaves the server as it was, with no more memory than readers and history account for', async () => {
      console.log(`      ${events} events to ${reading.length} readers and ${waiting.length} stalled ones: resident memory grew by ${Math.round(growthMiB)} MiB at the most`);
      assert.equal(cluster.server.pid, pid);
      assert.ok(growthMiB < memoryMiB, `${growthMiB} MiB`);
    });

    it('has ended every watch that does not read, which begins where it was cut off, or anew, and misses nothing', async function () {
      this.timeout(timeoutMs);
      const ends = { ended: 0, 'broken off': 0 };
      for (const [index, reader] of waiting.entries()) {
        reader.resume();
        ends[await reader.over] += 1;
        const first = reader.versions;
        assert.ok(first.length < events, 'it was cut off');
        assert.deepEqual(first, written.slice(0, first.length), 'what it was told is the beginning');
        const place = stalledPlaces()[index % stalledPlaces().length]!;
        const next = await read(place, first.length > 0 ? String(first.at(-1)) : began);
        await eventually('the rest is told, or a refusal', () => first.length + next.told.length >= events || next.told[0]?.startsWith('ERROR'), { withinMs: timeoutMs });
        next.close();
        if (!next.told[0]!.startsWith('ERROR')) assert.deepEqual([...first, ...next.versions], written);
      }
      console.log(`      stalled watches: ${ends.ended} ended in order, ${ends['broken off']} were broken off`);
    });

    it('is told from the past, as far as the history reaches, at once', async function () {
      this.timeout(timeoutMs);
      const from = written.length - 8_000;
      for (const place of places()) {
        const late = await read(place, String(written[from]));
        await eventually('all that followed is told', () => late.told.length >= written.length - from - 1, { withinMs: timeoutMs });
        late.close();
        assert.deepEqual(late.versions, written.slice(from + 1));
      }
    });
  });
};
