import { growsNoMoreThan, growthOf, heapGrowth } from './growth.ts';
import { auditedName, directName, hopSection, proxyName } from './hop-report.ts';
import type { Measurement } from './measurement.ts';
import type { BenchOptions } from './options.ts';
import { figureOf, heapGrowthTarget, targetObjects, targets } from './targets.ts';
import { number, textTable, times } from './text-table.ts';

const ours = 'tenant-apiserver';
const floorName = 'bare Node';
const others = ['CRD', 'sample-apiserver'];

/** All measurements as text: a section for each number of objects, growth, and what was to be reached. */
export const report = (measurements: readonly Measurement[], { objects, direct, proxy, audit, floor, profileDirectory }: BenchOptions): string => {
  const servers = [ours, ...(direct ? [directName] : []), ...(audit ? [auditedName] : []), ...(proxy ? [proxyName] : []), ...(floor ? [floorName] : []), ...others];
  const passes = objects.filter((count) => measurements.some((row) => row.objects === count));
  return [
    ...(profileDirectory ? ['tenant-apiserver wrote CPU profiles while it was measured, and was slower for it'] : []),
    ...passes.flatMap((count) => sections.map((section) => section(measurements, servers, count))),
    ...passes.map((count) => hopSection(measurements, count)),
    fenceSection(measurements),
    ...passes.slice(1).map((count, index) => growthSection(measurements, passes[index]!, count)),
    targetSection(measurements, passes),
  ].filter(Boolean).join('\n\n');
};

const find = (measurements: readonly Measurement[], operation: string, server: string, objects: number): Measurement | undefined =>
  measurements.find((row) => row.operation === operation && row.server === server && row.objects === objects);

const operationsOf = (measurements: readonly Measurement[], objects: number, has: (row: Measurement) => boolean): string[] =>
  [...new Set(measurements.filter((row) => row.objects === objects && row.server !== 'kube-apiserver' && has(row)).map(({ operation }) => operation))];

const servingSection = (measurements: readonly Measurement[], servers: readonly string[], objects: number): string => {
  const operations = operationsOf(measurements, objects, ({ cpuMsPerOp }) => cpuMsPerOp !== null);
  if (operations.length === 0) return '';
  const rows = operations.map((operation) => {
    const cpu = (server: string): number | null | undefined => find(measurements, operation, server, objects)?.cpuMsPerOp;
    return [operation, ...servers.map((server) => number(cpu(server))), ...others.map((server) => times(cpu(server), cpu(ours)))];
  });
  const header = ['operation', ...servers, ...others.map((server) => `${server} : ours`)];
  return `${objects} objects: CPU ms of the serving process per operation\n\n${textTable(header, rows)}`;
};

const wallSection = (measurements: readonly Measurement[], servers: readonly string[], objects: number): string => {
  const operations = operationsOf(measurements, objects, ({ wallP50Ms }) => wallP50Ms !== null);
  if (operations.length === 0) return '';
  const rows = operations.map((operation) => {
    const of = (server: string): Measurement | undefined => find(measurements, operation, server, objects);
    const cells = servers.map((server) => `${number(of(server)?.wallP50Ms)} / ${number(of(server)?.wallP99Ms)}`);
    return [operation, ...cells, ...others.map((server) => times(of(server)?.wallP50Ms, of(ours)?.wallP50Ms))];
  });
  const header = ['operation', ...servers, ...others.map((server) => `${server} : ours`)];
  return `${objects} objects: wall ms, p50 / p99, and p50 compared\n\n${textTable(header, rows)}`;
};

const systemSection = (measurements: readonly Measurement[], servers: readonly string[], objects: number): string => {
  const operations = operationsOf(measurements, objects, ({ totalCpuMsPerOp }) => totalCpuMsPerOp !== null);
  if (operations.length === 0) return '';
  const rows = operations.map((operation) => {
    const cells = servers.map((server) => {
      const row = find(measurements, operation, server, objects);
      return row ? `${number(row.kubeApiserverCpuMsPerOp)} + ${number(row.etcdCpuMsPerOp)} = ${number(row.totalCpuMsPerOp)}` : '-';
    });
    const total = (server: string): number | null | undefined => find(measurements, operation, server, objects)?.totalCpuMsPerOp;
    return [operation, ...cells, ...others.map((server) => times(total(server), total(ours)))];
  });
  const header = ['operation', ...servers, ...others.map((server) => `${server} : ours`)];
  return `${objects} objects: CPU ms per operation of kube-apiserver + etcd = all three processes (the CRD is served by the kube-apiserver itself)\n\n${textTable(header, rows)}`;
};

const memorySection = (measurements: readonly Measurement[], servers: readonly string[], objects: number): string => {
  const operations = operationsOf(measurements, objects, ({ operation }) => operation.startsWith('memory'));
  if (operations.length === 0) return '';
  const shown = servers.filter((server) => ![directName, auditedName, proxyName, floorName].includes(server));
  const rows = operations.map((operation) => {
    const of = (server: string): Measurement | undefined => find(measurements, operation, server, objects);
    return [operation, ...shown.map((server) => number(of(server)?.rssMb)), number(of(ours)?.heapMb)];
  });
  const header = ['memory', ...shown.map((server) => `${server} MB`), 'of ours, heapUsed + external MB'];
  return `${objects} objects: resident memory (the CRD's is the whole kube-apiserver's)\n\n${textTable(header, rows)}`;
};

const fenceSection = (measurements: readonly Measurement[]): string => {
  const fences = measurements.filter(({ operation }) => operation.startsWith('fence'));
  if (fences.length === 0) return '';
  const rows = fences.map((row) => [`${row.operation}, ${row.objects} objects`, number(row.wallP50Ms), number(row.wallP99Ms), number(row.kubeApiserverCpuMsPerOp), number(row.etcdCpuMsPerOp)]);
  return `One fence, from when it is sent until its event has come\n\n${textTable(['fence', 'p50 ms', 'p99 ms', 'kube-apiserver CPU ms', 'etcd CPU ms'], rows)}`;
};

const growthSection = (measurements: readonly Measurement[], from: number, to: number): string => {
  const operations = operationsOf(measurements, to, ({ cpuMsPerOp }) => cpuMsPerOp !== null);
  if (operations.length === 0) return '';
  const figures = (operation: string, server: string): (number | null | undefined)[] => [from, to].map((objects) => find(measurements, operation, server, objects)?.cpuMsPerOp);
  const rows = operations.map((operation) => {
    const [before, after] = figures(operation, ours);
    const growth = growthOf(operation);
    const judged = typeof before === 'number' && typeof after === 'number' ? (growsNoMoreThan(growth, before, after, to / from) ? growth : `more than ${growth}`) : '-';
    const grown = [ours, ...others].map((server) => {
      const [first, second] = figures(operation, server);
      return `${number(first)} -> ${number(second)} ${times(second, first)}`;
    });
    return [operation, ...grown, judged];
  });
  return `From ${from} to ${to} objects, ${times(to, from)} as many: CPU ms of the serving process\n\n${textTable(['operation', ours, ...others, 'ours grows'], rows)}`;
};

const targetSection = (measurements: readonly Measurement[], passes: readonly number[]): string => {
  const rows = targets.flatMap(({ operation, what, below }) => {
    const row = find(measurements, operation, ours, targetObjects);
    const figure = row && figureOf(row, what);
    if (typeof figure !== 'number') return [];
    return [[operation, `below ${below} ${what}`, number(figure), figure < below ? 'reached' : `missed, ${times(figure, below)}`]];
  });
  const growth = passes.length < 2 ? undefined : heapGrowthBetween(measurements, passes[0]!, passes.at(-1)!);
  if (growth !== undefined) {
    rows.push([`heapUsed + external from ${passes[0]} to ${passes.at(-1)}`, `at most ${heapGrowthTarget} times the JSON`, number(growth), growth <= heapGrowthTarget ? 'reached' : `missed, ${times(growth, heapGrowthTarget)}`]);
  }
  return rows.length === 0 ? '' : `What tenant-apiserver is to reach\n\n${textTable(['operation', 'target', 'measured', ''], rows)}`;
};

const sections = [servingSection, wallSection, systemSection, memorySection];

const heapGrowthBetween = (measurements: readonly Measurement[], from: number, to: number): number | undefined => {
  const [before, after] = [from, to].map((objects) => find(measurements, 'memory, 100 watchers, after start and lists', ours, objects));
  return before && after && heapGrowth(before, after);
};
