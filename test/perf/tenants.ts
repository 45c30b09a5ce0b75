import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { serverProcess, waitAvailable } from '../../hack/local/product.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { countedWorld } from './counted-world.ts';
import { countCpu, IdleRates, rssMbOf, type Processes } from './processes.ts';
import { runBenchmark } from './run-benchmark.ts';
import { countMade, growTree, placeOf } from './tenant-tree.ts';
import { number, textTable } from './text-table.ts';

/** What tenants cost the loop: to make them all, to put back what was changed by hand, to take over from another leader, and to do nothing. */
const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1,100,2000' },
    'steady-seconds': { type: 'string', default: '300' },
    'concurrent-syncs': { type: 'string', default: '4' },
    'kube-api-qps': { type: 'string', default: '0' },
  },
});
const steadyMs = Number(values['steady-seconds']) * 1000;
const limits = [`--concurrent-syncs=${values['concurrent-syncs']}`, `--kube-api-qps=${values['kube-api-qps']}`];

const start = async () => {
  const { controlPlane, port, kubeconfig, client, log } = await countedWorld();
  const server = serverProcess({ controlPlane, port, kubeconfig, logFile: path.join(controlPlane.directory, 'logs', 'tenant-apiserver.log'), args: limits });
  atEnd(() => server.stop('SIGKILL'));
  await server.start();
  await waitAvailable(controlPlane);
  return { controlPlane, server, client, log };
};
type World = Awaited<ReturnType<typeof start>>;

const processesOf = ({ controlPlane, server }: World): Processes => ({ serving: server.pid!, kubeApiserver: controlPlane.pidOf('kube-apiserver')!, etcd: controlPlane.pidOf('etcd')! });

/** Waits until nothing is written for two seconds. */
const quiet = (world: World): Promise<true> =>
  eventually('the loop has nothing more to write', async () => {
    await world.log.since();
    await sleep(2000);
    return (await world.log.since()).writes === 0;
  }, { withinMs: 300_000 });

const run = async (world: World, before: number, count: number): Promise<string[]> => {
  const { client, log, server } = world;
  const had = await countMade(client);
  await quiet(world);
  const cpu = countCpu(processesOf(world), new IdleRates(new Map()));
  await log.since();
  const wallMs = await growTree(client, before, count);
  const used = cpu();
  await sleep(3000); // what follows of the last: counts of those above
  const { reads, lists, writes } = await log.since();
  const added = count - before;
  const objects = (await countMade(client)) - had;
  await quiet(world);

  const { own } = placeOf(count - 1);
  await client.json({ method: 'PATCH', contentType: 'application/merge-patch+json', path: `/api/v1/namespaces/${own}`, body: { metadata: { labels: { 'namespace.cozystack.io/ingress': 'changed' } } } });
  await sleep(2000);
  const repair = await log.since();

  await server.stop();
  const restarted = performance.now();
  await server.start();
  await quiet(world);
  const again = performance.now() - restarted;
  await log.since();
  await sleep(steadyMs);
  const steady = await log.since();
  return [
    String(count), (wallMs / 1000).toFixed(1), number(added / (wallMs / 1000)), number(objects / added), number((writes - objects - added) / added), `${number(reads / added)} (${lists})`,
    `${(used.serving / 1000).toFixed(1)} / ${(used.kubeApiserver / 1000).toFixed(1)} / ${(used.etcd / 1000).toFixed(1)}`, String(Math.round(rssMbOf(server.pid!))),
    String(repair.writes), (again / 1000).toFixed(1), `${steady.writes} (${steady.upkeep})`,
  ];
};

const main = async (): Promise<void> => {
  const world = await start();
  const rows: string[][] = [];
  let before = 0;
  for (const count of values.tenants.split(',').map(Number)) {
    rows.push(await run(world, before, count));
    before = count;
    console.log(`  ${count} tenants: ${rows.at(-1)!.join('  ')}`);
  }
  console.log(`\nlines of five tenants, each below the one before; ${limits.join(' ')}`);
  console.log('the creation itself is one write more; in seconds of CPU: server with loop / kube-apiserver / etcd\n');
  console.log(textTable(['tenants', 'all Ready in s', 'a second', 'objects each', 'writes besides', 'reads each (lists)', 'CPU s', 'MB', 'writes to repair', 'new leader, s', `writes in ${steadyMs / 1000} s (Lease, fences)`], rows));
};

await runBenchmark(main);
