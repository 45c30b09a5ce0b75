import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { Kubectl } from '../../hack/local/kubectl.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { ownControlPlane } from '../integration/shared.ts';
import { atEnd } from '../lifecycle.ts';
import type { FloodOrder, FloodReport } from './fairness-flood.ts';
import { frontSession, getAs, type FrontAddress } from './front-session.ts';
import { percentile } from './percentile.ts';
import { runBenchmark } from './run-benchmark.ts';
import { startTenantApiserver } from './servers.ts';
import { concurrently, createObject, gatewaySpec, keyOf, namespaces, pathOf, type Subject } from './subject.ts';
import { number, textTable, times } from './text-table.ts';

/**
 * Shows what one user's flood does to another's requests: the same requests of a quiet user, alone and beside the flood, in turns, so that what else the
 * machine does meets both alike.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '4' },
    'at-a-time': { type: 'string', default: '200' },
  },
});
const [rounds, seconds, atATime] = [Number(values.rounds), Number(values.seconds), Number(values['at-a-time'])];
const everyMs = 20;
/** The burst at a flood's beginning is not what is measured. */
const settleMs = 2000;
const objects = 400;
const most = 3;

const start = async (): Promise<FrontAddress> => {
  const controlPlane = await ownControlPlane();
  const kubectl = new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath);
  await kubectl.run(['create', '-f', '-'], { input: namespaces.map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })).join('\n') });
  const server = await startTenantApiserver(controlPlane, undefined);
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'fairness' } };
  for (const object of [
    { ...rbac, kind: 'ClusterRole', rules: [{ apiGroups: [tenantGateways.group], resources: [tenantGateways.plural], verbs: ['get', 'list'] }] },
    {
      ...rbac, kind: 'ClusterRoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'fairness' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'fairness' }],
    },
  ]) {
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(object) });
  }
  const client = new KubeClient(await loadRestConfig(controlPlane.kubeconfigPath), 'fairness');
  atEnd(() => client.close());
  const subject = { names: tenantGateways, client, spec: gatewaySpec, padding: '' } as unknown as Subject;
  await concurrently(objects, (index) => createObject(subject, keyOf(index), index));
  return { port: server.port, ...controlPlane.frontProxy.client };
};

const floodProcess = (): ChildProcess => {
  const child = fork(path.join(import.meta.dirname, 'fairness-flood.ts'));
  atEnd(() => void child.kill('SIGKILL'));
  return child;
};

const tell = async (child: ChildProcess, order: FloodOrder): Promise<unknown> => {
  const told = once(child, 'message');
  child.send(order);
  return (await told)[0];
};

const run = async (): Promise<boolean> => {
  const address = await start();
  const session = await frontSession(address);
  const get = pathOf({ names: tenantGateways }, keyOf(0));
  const list = pathOf({ names: tenantGateways });

  /** Wall times of a quiet user's requests for some seconds. */
  const measure = async (request: string): Promise<number[]> => {
    const walls: number[] = [];
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      const began = performance.now();
      const status = await getAs(session, 'quiet', request);
      if (status !== 200) throw new Error(`the quiet user was answered ${status}`);
      walls.push(performance.now() - began);
      await sleep(Math.max(0, everyMs - (performance.now() - began)));
    }
    return walls;
  };

  const rows: string[][] = [];
  let failed = false;
  for (const { name, quiet, flood } of [
    { name: 'get beside a flood of gets', quiet: get, flood: get },
    { name: 'get beside a flood of lists', quiet: get, flood: list },
    { name: 'list beside a flood of lists', quiet: list, flood: list },
  ]) {
    const child = floodProcess();
    const alone: number[][] = [];
    const beside: number[][] = [];
    const answers: Record<number, number> = {};
    let floodSeconds = 0;
    await measure(quiet);
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await measure(quiet));
      await tell(child, { begin: { address, user: 'flood', path: flood, atATime } });
      await sleep(settleMs);
      beside.push(await measure(quiet));
      const report = (await tell(child, 'end')) as FloodReport;
      floodSeconds += report.seconds;
      for (const [status, count] of Object.entries(report.answers)) answers[Number(status)] = (answers[Number(status)] ?? 0) + count;
    }
    child.kill();
    const of = (walls: number[][], percent: number): number => percentile(walls.flat(), percent);
    /** What the machine does for others in one round decides nothing. */
    const typical = (walls: number[][]): number => percentile(walls.map((round) => percentile(round, 99)), 50);
    const [before, after] = [typical(alone), typical(beside)];
    failed ||= after > most * before;
    rows.push([
      name, number(of(alone, 50)), number(of(alone, 99)), number(of(beside, 50)), number(of(beside, 99)), times(of(beside, 99), of(alone, 99)), number(before), number(after), times(after, before),
      String(Math.round((answers[200] ?? 0) / floodSeconds)), String(answers[429] ?? 0), String(alone.flat().length + beside.flat().length),
    ]);
  }
  console.log(`\nOne user's requests, one each ${everyMs} ms, alone and beside another user's ${atATime} at a time; ms. "round": the median of the rounds' p99, by which it is judged\n`);
  console.log(textTable(['', 'p50 alone', 'p99 alone', 'p50 beside', 'p99 beside', 'p99', 'round alone', 'round beside', 'round', 'flood/s', 'flood 429', 'samples'], rows));
  session.close();
  return failed;
};

await runBenchmark(run);
