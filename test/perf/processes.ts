import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** The kernel counts in hundredths of a second on every platform that Node runs on (USER_HZ). */
const tickMs = 10;

/** User and system time that a process has used so far. Linux only, like everything here. */
export const cpuMsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
};

export const rssMbOf = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} has no resident memory`);
  return Number(kilobytes) / 1024;
};

/** The value of a flag that a process was started with. */
export const flagOf = (pid: number, flag: string): string => {
  const prefix = `--${flag}=`;
  const argument = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').find((text) => text.startsWith(prefix));
  if (argument === undefined) throw new Error(`process ${pid} was started without --${flag}`);
  return argument.slice(prefix.length);
};

/** The processes that an operation keeps busy. One may have two roles: a CustomResourceDefinition is served by the kube-apiserver. */
export interface Processes {
  serving: number;
  kubeApiserver: number;
  etcd: number;
}

export type CpuMs = Record<keyof Processes | 'total', number>;

/** CPU time that processes use when nobody asks them anything, in ms a ms; it is taken off what is measured. */
export class IdleRates {
  readonly #rates: ReadonlyMap<number, number>;

  static async measure(pids: readonly number[], forMs: number): Promise<IdleRates> {
    const began = performance.now();
    const before = new Map(pids.map((pid) => [pid, cpuMsOf(pid)]));
    await setTimeout(forMs);
    const elapsed = performance.now() - began;
    return new IdleRates(new Map(pids.map((pid) => [pid, (cpuMsOf(pid) - before.get(pid)!) / elapsed])));
  }

  constructor(rates: ReadonlyMap<number, number>) {
    this.#rates = rates;
  }

  /** Unknown processes, such as one that was started since, count as quiet. */
  of(pid: number): number {
    return this.#rates.get(pid) ?? 0;
  }
}

/** Begins to count. @returns what the processes have used since, beyond what they use when idle */
export const countCpu = (processes: Processes, idle: IdleRates): (() => CpuMs) => {
  const began = performance.now();
  const pids = new Set(Object.values(processes) as number[]);
  const before = new Map([...pids].map((pid) => [pid, cpuMsOf(pid)]));
  return () => {
    const elapsed = performance.now() - began;
    const used = new Map([...pids].map((pid) => [pid, Math.max(0, cpuMsOf(pid) - before.get(pid)! - idle.of(pid) * elapsed)]));
    const of = (role: keyof Processes): number => used.get(processes[role])!;
    return { serving: of('serving'), kubeApiserver: of('kubeApiserver'), etcd: of('etcd'), total: [...used.values()].reduce((sum, ms) => sum + ms, 0) };
  };
};
