/** The order of two texts by their characters, for toSorted(): the same wherever it runs. */
export const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
