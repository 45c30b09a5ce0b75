/** The value that so many of a hundred do not exceed (nearest rank). Throws RangeError where there is none. */
export const percentile = (values: readonly number[], of100: number): number => {
  if (values.length === 0) throw new RangeError('no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((of100 / 100) * sorted.length) - 1)]!;
};
