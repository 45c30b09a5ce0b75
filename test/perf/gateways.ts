import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { serverProcess, waitAvailable } from '../../hack/local/product.ts';
import type { KubeList, KubeObject } from '../../api/meta/v1/types.ts';
import { exampleGateway, exampleModes, exampleRoute, liveAfter, observedOf } from '../../pkg/gateway/example.ts';
import { plan } from '../../pkg/gateway/plan.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { countedWorld } from './counted-world.ts';
import { percentile } from './percentile.ts';
import { countCpu, IdleRates, rssMbOf, type Processes } from './processes.ts';
import type { Requests } from './request-log.ts';
import { runBenchmark } from './run-benchmark.ts';
import { concurrently } from './subject.ts';
import { number, textTable } from './text-table.ts';

/**
 * What gateways cost the loop: to make them all from nothing, to serve one more route, to look away from what is no concern of any gateway,
 * and to do nothing. No data plane and no cert-manager answer; certificates come from an issuer without limits.
 */
const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '100,500' },
    routes: { type: 'string', default: '20' },
    namespaces: { type: 'string', default: '2000' },
    'steady-seconds': { type: 'string', default: '60' },
  },
});
const routesEach = Number(values.routes);
const [namespaceCount, steadyMs] = [Number(values.namespaces), Number(values['steady-seconds']) * 1000];
const patienceMs = 10 * 60_000;
const samples = 50;
const issuer = 'unlimited';

const namespaceOf = (index: number): string => `tenant-g${index}`;
const apexOf = (index: number): string => `g${index}.example.org`;
const routeOf = (gateway: number, name: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name, namespace: namespaceOf(gateway) },
  spec: { parentRefs: [{ name: 'cozystack', port: 443 }], hostnames: [`${name}.${apexOf(gateway)}`], rules: [{ backendRefs: [{ name: 'app', port: 80 }] }] },
});
const tenantGatewayOf = (index: number): KubeObject => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { name: 'cozystack', namespace: namespaceOf(index) },
  spec: { apex: apexOf(index), certMode: 'http01', issuerName: issuer },
});
const gatewayApi = '/apis/gateway.networking.k8s.io/v1';
const pathIn = (namespace: string, plural: string): string => `${gatewayApi}/namespaces/${namespace}/${plural}`;

/** A control plane with the product, whose loop is a process of its own that is begun when all is there. */
const start = async () => {
  const { directory, controlPlane, port, kubeconfig, client, log } = await countedWorld();
  const [loopPort] = (await freePorts(1)) as [number];
  const issuers = path.join(directory, 'issuers.yaml');
  await writeFile(issuers, JSON.stringify({ [issuer]: { server: 'https://acme.invalid/directory', limits: {} } }));
  const serverOf = (at: number, name: string, args: readonly string[] = []) => {
    const child = serverProcess({ controlPlane, port: at, kubeconfig, logFile: path.join(controlPlane.directory, 'logs', `${name}.log`), args: [`--issuers=${issuers}`, ...args] });
    atEnd(() => child.stop('SIGKILL'));
    return child;
  };
  const first = serverOf(port, 'issuing'); // its loop issues the serving certificate
  await first.start();
  await waitAvailable(controlPlane);
  await first.stop();
  await serverOf(port, 'serving', ['--run-loop=false']).start();
  await waitAvailable(controlPlane);
  return { controlPlane, client, log, loopOf: (run: number) => serverOf(loopPort, `loop-${run}`) };
};

type World = Awaited<ReturnType<typeof start>>;

const create = ({ client }: World, collection: string, body: object): Promise<unknown> => client.json({ method: 'POST', path: collection, body, timeoutMs: 60_000 });

const countOf = async ({ client }: World, plural: string, group = gatewayApi): Promise<number> => {
  const { items, metadata } = await client.json<KubeList>({ path: `${group}/${plural}`, query: { limit: 1 }, timeoutMs: 60_000 });
  return items.length + ((metadata as { remainingItemCount?: number }).remainingItemCount ?? 0);
};

interface Row {
  what: string;
  cpuMs: number;
  walls?: readonly number[];
  requests: Requests;
  count: number;
}

const measured = async (what: string, world: World, processes: Processes, idle: IdleRates, count: number, work: () => Promise<readonly number[] | void>): Promise<Row> => {
  await world.log.since();
  const cpu = countCpu(processes, idle);
  const walls = (await work()) ?? undefined;
  return { what, cpuMs: cpu().serving / count, requests: await world.log.since(), count, ...(walls && { walls }) };
};

/** Adds a route and waits until its listener is in the Gateway's spec. @returns milliseconds */
const addRoute = async (world: World, gateway: number, name: string): Promise<number> => {
  const began = performance.now();
  const host = `${name}.${apexOf(gateway)}`;
  await create(world, pathIn(namespaceOf(gateway), 'httproutes'), routeOf(gateway, name));
  const listens = async (): Promise<boolean> => {
    const { spec } = await world.client.json<KubeObject & { spec: { listeners: { hostname?: string }[] } }>({ path: `${pathIn(namespaceOf(gateway), 'gateways')}/cozystack` });
    return spec.listeners.some(({ hostname }) => hostname === host);
  };
  await eventually(`${host} has a listener`, listens, { everyMs: 10 });
  return performance.now() - began;
};

/** Changes that no gateway has to do with: a label of a namespace, a route to a gateway of somebody else's. */
const unrelated = (world: World, namespace: string): Promise<void> =>
  concurrently(4 * samples, async (index) => {
    const body = { metadata: { labels: { changed: String(index) } } };
    await world.client.json({ method: 'PATCH', contentType: 'application/merge-patch+json', body, path: index % 2 ? `/api/v1/namespaces/${namespace}` : `${pathIn(namespace, 'httproutes')}/elsewhere` });
  }, 1);

const run = async (world: World, before: number, gateways: number): Promise<void> => {
  const { controlPlane, log } = world;
  const began = performance.now();
  await concurrently(gateways - before, async (offset) => {
    const index = before + offset;
    for (let route = 0; route < routesEach; route += 1) await create(world, pathIn(namespaceOf(index), 'httproutes'), routeOf(index, `app${route}`));
    await create(world, `/apis/gateway.cozystack.io/v1alpha1/namespaces/${namespaceOf(index)}/tenantgateways`, tenantGatewayOf(index));
  });
  console.log(`  ${gateways} gateways with ${routesEach} routes each were made in ${Math.round((performance.now() - began) / 1000)} s`);

  const loop = world.loopOf(gateways);
  await log.since();
  const converging = performance.now();
  await loop.start();
  const processes: Processes = { serving: loop.pid!, kubeApiserver: controlPlane.pidOf('kube-apiserver')!, etcd: controlPlane.pidOf('etcd')! };
  const cpu = countCpu(processes, new IdleRates(new Map())); // from when it was ready: what its start costs is no gateway's
  const [certificates, listening] = [gateways * routesEach, gateways];
  await eventually('all certificates and gateways are there', async () => (await countOf(world, 'certificates', '/apis/cert-manager.io/v1')) >= certificates && (await countOf(world, 'gateways')) >= listening, { withinMs: patienceMs, everyMs: 500 });
  const convergedMs = performance.now() - converging;
  const used = cpu();
  const written = await log.since();
  const quiet = async (): Promise<boolean> => (await log.since()).writes === 0;
  await eventually('the loop has nothing more to write', quiet, { withinMs: patienceMs, everyMs: 2000 });
  const idle = await IdleRates.measure(Object.values(processes), 5000);
  const rows = [
    await measured('one route more', world, processes, idle, samples, async () => {
      const walls: number[] = [];
      for (let index = 0; index < samples; index += 1) walls.push(await addRoute(world, (index * 7) % gateways, `more${gateways}x${index}`));
      await sleep(1000); // what follows of the last: status
      return walls;
    }),
    await measured('a change elsewhere', world, processes, idle, 4 * samples, () => unrelated(world, namespaceOf(namespaceCount - 1))),
  ];
  await log.since();
  await sleep(steadyMs);
  const steady = await log.since();
  const made = gateways - before;
  console.log(`\n${gateways} gateways with ${routesEach} routes each, ${namespaceCount} namespaces`);
  console.log(`  ${made === gateways ? 'from nothing' : `${made} of them from nothing, the others looked at`}: ${(convergedMs / 1000).toFixed(1)} s, of which the process's start is a part; CPU s: loop ${(used.serving / 1000).toFixed(1)}, kube-apiserver ${(used.kubeApiserver / 1000).toFixed(1)}, etcd ${(used.etcd / 1000).toFixed(1)}; resident ${Math.round(rssMbOf(loop.pid!))} MB; ${written.writes} writes, ${written.reads} reads`);
  console.log(`  in ${steadyMs / 1000} s with nothing to do: ${steady.writes} writes, ${steady.reads} reads, and ${steady.upkeep} requests for Lease and fences\n`);
  const cells = rows.map(({ what, cpuMs, walls, requests, count }) => [
    what, number(cpuMs), number(requests.reads / count), number(requests.writes / count), walls ? number(percentile(walls, 50)) : '-', walls ? number(percentile(walls, 99)) : '-',
  ]);
  console.log(textTable(['for', 'CPU ms of the loop', 'reads', 'writes', 'wall p50 ms', 'p99 ms'], cells));
  await loop.stop();
};

/** CPU of the pure plan, in ms. */
const planCost = (): void => {
  const rows = Object.entries(exampleModes).map(([mode, spec]) => {
    const routes = Array.from({ length: 63 }, (_, index) => exampleRoute(index % 2 ? 'tenant-acme' : 'cozy-dashboard', `r${index}`, [`h${index}.acme.example.org`]));
    const observed = observedOf(routes, exampleGateway(spec));
    const steady = { ...observed, live: liveAfter(plan(observed)) };
    for (let warm = 0; warm < 500; warm += 1) plan(steady);
    const before = process.cpuUsage();
    for (let count = 0; count < 500; count += 1) plan(steady);
    const { user, system } = process.cpuUsage(before);
    return [mode, number((user + system) / 500_000)];
  });
  console.log(`\n${textTable(['a plan of 64 listeners, in mode', 'CPU ms'], rows)}`);
};

const main = async (): Promise<void> => {
  planCost();
  const world = await start();
  await concurrently(namespaceCount, (index) =>
    create(world, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(index), labels: { 'namespace.cozystack.io/host': apexOf(index) } } }));
  await create(world, pathIn(namespaceOf(namespaceCount - 1), 'httproutes'), { ...routeOf(namespaceCount - 1, 'elsewhere'), spec: { parentRefs: [{ name: 'other' }], hostnames: [`a.${apexOf(namespaceCount - 1)}`] } });
  let before = 0;
  for (const gateways of values.gateways.split(',').map(Number)) {
    await run(world, before, gateways);
    before = gateways;
  }
};

await runBenchmark(main);
