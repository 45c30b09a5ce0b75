import { quote } from './quote.ts';

/** A text that is no RFC 3339 time, in the words of Kubernetes' parser. */
export class TimeSyntaxError extends Error {}

interface Element {
  /** How the layout writes the element; its value is what is missing where it does not fit. */
  layout: string;
  pattern: RegExp;
  range?: { name: string; from: number; to: number };
}

const elements: readonly Element[] = [
  { layout: '2006', pattern: /^\d{4}/ },
  { layout: '-', pattern: /^-/ },
  { layout: '01', pattern: /^\d\d/, range: { name: 'month', from: 1, to: 12 } },
  { layout: '-', pattern: /^-/ },
  { layout: '02', pattern: /^\d\d/ },
  { layout: 'T', pattern: /^T/ },
  { layout: '15', pattern: /^\d\d?/, range: { name: 'hour', from: 0, to: 23 } },
  { layout: ':', pattern: /^:/ },
  { layout: '04', pattern: /^\d\d/, range: { name: 'minute', from: 0, to: 59 } },
  { layout: ':', pattern: /^:/ },
  { layout: '05', pattern: /^\d\d/, range: { name: 'second', from: 0, to: 59 } },
  { layout: '', pattern: /^(?:[.,]\d+)?/ },
  { layout: 'Z07:00', pattern: /^(?:Z|[+-]\d\d:\d\d)/ },
];

/**
 * An RFC 3339 time in milliseconds since the epoch.
 * @throws TimeSyntaxError
 */
export const parseGoTime = (text: string): number => {
  const fail = (message: string): never => {
    throw new TimeSyntaxError(`parsing time ${quote(text)}${message}`);
  };
  let rest = text;
  const parts = elements.map(({ layout, pattern, range }) => {
    const [part] = pattern.exec(rest) ?? fail(` as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(rest)} as ${quote(layout)}`);
    rest = rest.slice(part.length);
    if (range && (Number(part) < range.from || Number(part) > range.to)) fail(`: ${range.name} out of range`);
    return part;
  });
  if (rest !== '') fail(`: extra text: ${quote(rest)}`);
  const [year, , month, , day, , hour = '', , minute, , second, fraction = '', zone] = parts;
  // Day 0 of the next month is the last of this one; the year 2000+ is a leap year in step, since Date reads 0 to 99 as 1900+.
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(day) < 1 || Number(day) > days) fail(': day out of range');
  return Date.parse(`${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}:${second}${fraction.replace(',', '.').slice(0, 4)}${zone}`);
};

/** The same, or nothing where the text is no such time. */
export const parseTime = (text: string): number | undefined => {
  try {
    return parseGoTime(text);
  } catch (error) {
    if (error instanceof TimeSyntaxError) return undefined;
    throw error;
  }
};
