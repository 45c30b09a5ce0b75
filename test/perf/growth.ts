import type { Measurement } from './measurement.ts';

/** What the heap grew by, in sizes of the JSON of the objects that were added; undefined where that was not measured. */
export const heapGrowth = (before: Pick<Measurement, 'heapMb' | 'jsonMb'>, after: Pick<Measurement, 'heapMb' | 'jsonMb'>): number | undefined => {
  if (before.heapMb === null || after.heapMb === null || before.jsonMb === null || after.jsonMb === null) return undefined;
  return after.jsonMb > before.jsonMb ? (after.heapMb - before.heapMb) / (after.jsonMb - before.jsonMb) : undefined;
};

/** How an operation may grow with the number of objects: in proportion at most, or not at all. */
export type Growth = 'linear' | 'flat';

/** Tells a cost that grows from the spread of two measurements of the same. */
const tolerance = 1.3;

/** Whether a cost has grown by no more than it may while there came to be `ratio` times as many objects. */
export const growsNoMoreThan = (growth: Growth, before: number, after: number, ratio: number): boolean =>
  after <= before * tolerance * (growth === 'linear' ? ratio : 1);

/** Lists may grow in proportion; pages, and what is about one object, an event or a watch, must not. */
export const growthOf = (operation: string): Growth => (operation.startsWith('list') || operation.startsWith('start') ? 'linear' : 'flat');
