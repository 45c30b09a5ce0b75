import assert from 'node:assert/strict';
import type { KubeClient } from '../../pkg/kube/client.ts';
import { create, tenantNamed, tenantPath, tenantRecordNamed, tenantRecordPath, type Clients } from './client.ts';
import { change, insist, lastName, missOf, reads, type Change, type Reader, type Writer } from './freshness-trials.ts';
import { sharedStoreWorld, type StoreWorld } from './store-world.ts';

const trials = 2000;
const workers = 32;

describe('freshness', () => {
  let world: StoreWorld;
  let clients: Clients;
  let replicaClient: KubeClient;
  let namespace: string;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    ({ clients, replicaClient, namespace } = world = await sharedStoreWorld('fresh'));
    await create(clients.front, tenantPath(namespace), tenantNamed(lastName));
  });
  after(() => world?.leave());

  it(`shows in ${trials} lists and watches each write that was acknowledged before they began`, async function () {
    this.timeout(600_000); // half a minute where nothing else runs; how long is not what this is about
    const writers: Writer[] = [
      { name: 'records directly', client: clients.records, path: tenantRecordPath, object: tenantRecordNamed },
      { name: 'kube-apiserver', client: clients.front, path: tenantPath, object: tenantNamed },
      { name: 'replica', client: replicaClient, path: tenantPath, object: tenantNamed },
    ];
    const readers: Reader[] = [{ name: 'kube-apiserver', client: clients.front }, { name: 'replica', client: replicaClient }];
    const misses: string[] = [];
    const counts = new Map<string, number>();
    let begun = 0;
    let refused = 0;

    // Three trials an object: it is made, changed, deleted; by whom and how it is read goes round.
    const work = async (worker: number): Promise<void> => {
      for (let turn = 0; begun < trials; turn += 1) {
        const name = `w${worker}t${turn}`;
        for (const verb of ['create', 'update', 'delete'] as const) {
          const at = (begun += 1);
          const writer = writers[at % writers.length]!;
          const reader = readers[(at >> 2) % readers.length]!;
          const [form, read] = reads[(at * 7 + worker) % reads.length]!;
          const made: Change = await change(writer, verb, namespace, name);
          const miss = missOf(made, await insist(() => read(reader.client, namespace, made), () => (refused += 1)));
          const what = `${verb} by ${writer.name}, ${form} from ${reader.name}`;
          counts.set(form, (counts.get(form) ?? 0) + 1);
          if (miss) misses.push(`${what}: ${miss}`);
        }
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`      ${begun} trials in ${seconds} s, ${misses.length} misses, ${refused} refusals: ${[...counts].map(([form, count]) => `${form} ${count}`).join(', ')}`);
    assert.ok(begun >= trials);
    assert.deepEqual(misses, []);
  });
});
