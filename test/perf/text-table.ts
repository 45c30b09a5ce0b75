/** Lines of columns as wide as their widest cell: the first column to the left, numbers to the right. */
export const textTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ').trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
};

/** Three figures that count, or whole numbers; a dash where there is none. */
export const number = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return '-';
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
};

/** How many times as much; a dash where one of the two is missing, or too small to divide by. */
export const times = (dividend: number | null | undefined, divisor: number | null | undefined): string =>
  typeof dividend !== 'number' || typeof divisor !== 'number' || divisor <= 0 ? '-' : `${(dividend / divisor).toFixed(dividend / divisor >= 10 ? 0 : 1)}x`;
