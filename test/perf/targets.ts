import type { Measurement } from './measurement.ts';

/** What tenant-apiserver is to reach with 5,000 objects. */
export interface Target {
  operation: string;
  what: 'ms CPU' | 'ms p99' | 'ms p50' | 'MB resident';
  below: number;
}

export const targetObjects = 5000;

export const targets: readonly Target[] = [
  { operation: 'list JSON, identity', what: 'ms CPU', below: 8 },
  { operation: 'list Table, identity', what: 'ms CPU', below: 8 },
  { operation: 'list JSON, gzip', what: 'ms CPU', below: 12 },
  { operation: 'page of 500, identity', what: 'ms CPU', below: 1.5 },
  { operation: 'list by label (1/7), identity', what: 'ms CPU', below: 2 },
  { operation: 'get', what: 'ms CPU', below: 0.5 },
  { operation: 'create', what: 'ms CPU', below: 1 },
  { operation: 'patch (apply)', what: 'ms CPU', below: 1.5 },
  { operation: 'event to 500 watchers', what: 'ms CPU', below: 8 },
  { operation: 'event to 500 watchers', what: 'ms p99', below: 100 },
  { operation: 'new watch from a recent version', what: 'ms CPU', below: 1 },
  { operation: 'memory, 100 watchers, in use', what: 'MB resident', below: 200 },
  { operation: 'memory, 100 watchers, after start and lists', what: 'MB resident', below: 200 },
  { operation: 'start to ready', what: 'ms p50', below: 1500 },
];

/** How many times their JSON size heapUsed + external may grow by when objects are added. */
export const heapGrowthTarget = 3;

export const figureOf = (row: Measurement, what: Target['what']): number | null =>
  ({ 'ms CPU': row.cpuMsPerOp, 'ms p99': row.wallP99Ms, 'ms p50': row.wallP50Ms, 'MB resident': row.rssMb })[what];
