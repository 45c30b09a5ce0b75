import { existsSync } from 'node:fs';
import { isWantedServer, type BenchOptions } from './options.ts';
import { measure, type Measurement, type TrialLimits } from './measurement.ts';
import { measureFence, measureFenceWithFsync } from './operations/fence.ts';
import { measureMemory, measureStart } from './operations/lifecycle.ts';
import { listOperations } from './operations/lists.ts';
import { objectOperations } from './operations/objects.ts';
import { measureEvent, newWatch } from './operations/watches.ts';
import { IdleRates } from './processes.ts';
import type { Subject } from './subject.ts';
import type { World } from './world.ts';

/** One thing to measure. Those of a name are compared with each other. */
export interface Step {
  operation: string;
  server: string;
  run: (idle: IdleRates) => Promise<Measurement>;
}

const limitsFor = ({ quick, objects }: BenchOptions, now: number): TrialLimits =>
  quick ? { warmUpMs: 500, forMs: 1500, maxCount: 300 } : { warmUpMs: 4000, forMs: now === objects[0] ? 5000 : 4000, maxCount: 1200 };

/** All that is measured with so many objects, operation by operation, so that servers are compared under one load of the machine. */
export const stepsFor = (world: World, objects: number, options: BenchOptions): Step[] => {
  const { subjects, direct, audited, proxied, floor, tenantServer, sampleServer, controlPlane } = world;
  const limits = limitsFor(options, objects);
  const all = [...subjects, ...(direct ? [direct] : []), ...(audited ? [audited] : []), ...(proxied ? [proxied] : [])];
  const withFloor = floor ? [...all, floor] : all;
  const heapOf = ({ name }: Subject): typeof tenantServer.heap | undefined => (name === 'tenant-apiserver' ? tenantServer.heap : undefined);
  const forEach = (operation: string, of: readonly Subject[], run: (subject: Subject, idle: IdleRates) => Promise<Measurement>): Step[] =>
    of.map((subject) => ({ operation, server: subject.name, run: (idle) => run(subject, idle) }));

  const aggregated = [{ subject: subjects[0]!, server: tenantServer }, { subject: subjects.at(-1)!, server: sampleServer }];
  const events = options.quick ? 20 : 50;
  const used = 'memory, 100 watchers, in use';
  const fresh = 'memory, 100 watchers, after start and lists';
  const steps = [
    ...[...listOperations, ...objectOperations, newWatch].flatMap((operation) =>
      forEach(operation.name, objectOperations.includes(operation) ? withFloor : all, (subject, idle) =>
        measure(operation, subject, objects, idle, { ...limits, profiler: subject === subjects[0] ? tenantServer.profiler : undefined }))),
    ...forEach(`event to ${options.watchers} watchers`, all, (subject, idle) => measureEvent(subject, objects, idle, options.watchers, events)),
    ...forEach(used, subjects, (subject) => measureMemory(used, subject, objects, heapOf(subject))),
    ...aggregated.map(({ subject, server }) => ({ operation: 'start to ready', server: subject.name, run: () => measureStart(subject, objects, server, 3) })),
    ...forEach(fresh, aggregated.map(({ subject }) => subject), async (subject) => {
      await warmLists(subject, objects);
      return measureMemory(fresh, subject, objects, heapOf(subject));
    }),
    { operation: 'fence', server: 'kube-apiserver', run: (idle: IdleRates) => measureFence('fence', objects, controlPlane, tenantServer.kubeconfig, idle, 200) },
  ];
  return steps.filter(isWanted(options));
};

/** What needs a control plane of its own, once all else is done. */
export const lastSteps = (options: BenchOptions): Step[] =>
  [{ operation: 'fence with fsync', server: 'kube-apiserver', run: () => measureFenceWithFsync('fence with fsync', 200) }].filter(isWanted(options));

const isWanted = (options: BenchOptions) => ({ operation, server }: Step): boolean =>
  isWantedServer(options, server) && (options.only.length === 0 || options.only.some((text) => operation.toLowerCase().includes(text)));

/** Each kind of list once, so that memory holds what a server keeps of them. */
const warmLists = async (subject: Subject, objects: number): Promise<void> => {
  for (const operation of listOperations) await (await operation.prepare(subject, objects, 1)).attempt();
};

/** Every process whose CPU time is counted. */
export const processesOf = ({ subjects, audited, proxied, floor }: World): number[] => [...new Set([...subjects, ...(audited ? [audited] : []), ...(proxied ? [proxied] : []), ...(floor ? [floor] : [])].flatMap((subject) => Object.values(subject.processes()) as number[]))];

/** CPU times are read where Linux has them. Throws elsewhere. */
export const assertMeasurable = (): void => {
  if (!existsSync('/proc/self/stat')) throw new Error('the benchmark reads CPU times from /proc, which this system does not have: run it on Linux');
};
