import { setTimeout } from 'node:timers/promises';
import { countCpu, rssMbOf, type CpuMs, type IdleRates } from './processes.ts';
import { percentile } from './percentile.ts';
import type { Profiler } from './profiler.ts';
import type { Subject } from './subject.ts';

/** One row of the result; null where an operation has no such figure. CPU times are of one operation. */
export interface Measurement {
  operation: string;
  server: string;
  objects: number;
  /** Of the serving process, which is the kube-apiserver for a CustomResourceDefinition. */
  cpuMsPerOp: number | null;
  wallP50Ms: number | null;
  wallP99Ms: number | null;
  rssMb: number | null;
  kubeApiserverCpuMsPerOp: number | null;
  etcdCpuMsPerOp: number | null;
  /** Of the serving process, the kube-apiserver and etcd, each once. */
  totalCpuMsPerOp: number | null;
  /** heapUsed + external after a forced collection; tenant-apiserver only. */
  heapMb: number | null;
  /** Size of a list of all objects, where memory is measured. */
  jsonMb: number | null;
  samples: number;
}

/** What an operation does again and again, one after the other. */
export interface Trial {
  attempt: () => Promise<void>;
  /** Checks an answer, which takes longer than to get it. */
  check?: () => Promise<void>;
  maxCount?: number;
  /** The least time from one attempt to the next. */
  everyMs?: number;
  cleanUp?: () => Promise<void>;
}

export interface Operation {
  name: string;
  /** `count`: attempts that a trial must be good for, at the least, where it uses things up. */
  prepare: (subject: Subject, objects: number, count: number) => Promise<Trial>;
}

export interface TrialLimits {
  warmUpMs: number;
  forMs: number;
  maxCount: number;
  /** Takes a profile of what is measured. */
  profiler?: Profiler | undefined;
}

/** A slow operation is tried so often whatever the time. */
const minCount = 5;

export const measure = async (operation: Operation, subject: Subject, objects: number, idle: IdleRates, limits: TrialLimits): Promise<Measurement> => {
  const trial = await operation.prepare(subject, objects, limits.maxCount);
  const processes = subject.processes();
  try {
    await trial.check?.();
    const most = Math.min(limits.maxCount, trial.maxCount ?? limits.maxCount);
    const warmUps = trial.maxCount === undefined ? Infinity : Math.floor(most / 4); // code is compiled only after some thousand calls
    await repeat(trial, { forMs: limits.warmUpMs, maxCount: warmUps });
    const endProfile = await limits.profiler?.begin(`${operation.name} ${objects}`);
    const counted = countCpu(processes, idle);
    const walls = await repeat(trial, { forMs: limits.forMs, maxCount: trial.maxCount === undefined ? most : most - Math.floor(most / 4) });
    const cpu = counted();
    await endProfile?.();
    return measurement(operation.name, subject.name, objects, { cpu, walls, count: walls.length, rssMb: rssMbOf(processes.serving) });
  } finally {
    await trial.cleanUp?.();
  }
};

const repeat = async ({ attempt, everyMs = 0 }: Trial, { forMs, maxCount }: { forMs: number; maxCount: number }): Promise<number[]> => {
  const walls: number[] = [];
  const until = performance.now() + forMs;
  while (walls.length < maxCount && (walls.length < minCount || performance.now() < until)) {
    const began = performance.now();
    await attempt();
    const wall = performance.now() - began;
    walls.push(wall);
    if (wall < everyMs) await setTimeout(everyMs - wall);
  }
  return walls;
};

export interface Figures {
  cpu?: CpuMs;
  /** Operations that the CPU time was used for. */
  count?: number;
  walls?: readonly number[];
  rssMb?: number;
  heapMb?: number;
  jsonMb?: number;
}

export const measurement = (operation: string, server: string, objects: number, { cpu, count = 1, walls, rssMb, heapMb, jsonMb }: Figures): Measurement => {
  const each = (role: keyof CpuMs): number | null => (cpu ? cpu[role] / count : null);
  return {
    operation,
    server,
    objects,
    cpuMsPerOp: each('serving'),
    wallP50Ms: walls ? percentile(walls, 50) : null,
    wallP99Ms: walls ? percentile(walls, 99) : null,
    rssMb: rssMb ?? null,
    kubeApiserverCpuMsPerOp: each('kubeApiserver'),
    etcdCpuMsPerOp: each('etcd'),
    totalCpuMsPerOp: each('total'),
    heapMb: heapMb ?? null,
    jsonMb: jsonMb ?? null,
    samples: walls?.length ?? 1,
  };
};
