/** One place where two values differ, as in `body.metadata.name`, with both; absent is undefined. */
export interface Fault {
  at: string;
  ours: unknown;
  twin: unknown;
}

/** Where two JSON values differ. */
export const faultsBetween = (ours: unknown, twin: unknown, at = ''): Fault[] => {
  if (Array.isArray(ours) && Array.isArray(twin)) {
    const longer = ours.length > twin.length ? ours : twin;
    return longer.flatMap((_, index) => faultsBetween(ours[index], twin[index], below(at, String(index))));
  }
  if (isPlain(ours) && isPlain(twin)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(twin)]);
    return [...keys].flatMap((key) => faultsBetween(ours[key], twin[key], below(at, key)));
  }
  return Object.is(ours, twin) ? [] : [{ at, ours, twin }];
};

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`);

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const faultText = ({ at, ours, twin }: Fault): string => `${at}\n    ours: ${shown(ours)}\n    twin: ${shown(twin)}`;

const maxShown = 1500;
const shown = (value: unknown): string => (value === undefined ? '(absent)' : JSON.stringify(value).slice(0, maxShown));
