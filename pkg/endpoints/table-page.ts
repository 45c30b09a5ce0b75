import { ageChangesAt, humanDuration } from './duration.ts';
import { deflatePiece, type GzipPiece } from './gzip-pieces.ts';
import type { RowTemplate } from './table.ts';

/** Rows as one text with the ages left open: `parts[0] + age(since[0]) + parts[1] + …`, each row behind a comma. */
export interface TablePage {
  parts: readonly string[];
  since: readonly number[];
}

/** A page's bytes, right from one moment until just before another; milliseconds since the epoch. */
export interface RenderedPage {
  bytes: Buffer;
  from: number;
  until: number;
  /** The bytes compressed, all of them or all but the first comma; made at first use. */
  deflated: { whole?: Promise<GzipPiece>; first?: Promise<GzipPiece> };
}

export const pageOf = (rows: readonly RowTemplate[]): TablePage => {
  const parts: string[] = [];
  const since: number[] = [];
  let open = '';
  for (const row of rows) {
    const [first = '', ...rest] = row.parts;
    open += `,${first}`;
    for (const [index, part] of rest.entries()) {
      parts.push(open);
      since.push(row.since[index]!);
      open = part;
    }
  }
  parts.push(open);
  return { parts, since };
};

export const renderPage = ({ parts, since }: TablePage, now: Date): RenderedPage => {
  const at = now.getTime();
  let text = parts[0]!;
  let until = Number.POSITIVE_INFINITY;
  for (let index = 0; index < since.length; index += 1) {
    text += humanDuration(at - since[index]!) + parts[index + 1]!;
    until = Math.min(until, ageChangesAt(since[index]!, at));
  }
  return { bytes: Buffer.from(text), from: at, until, deflated: {} };
};

/** A page's bytes, compressed; without its comma where the page is the first of a list. */
export const deflatedPage = ({ bytes, deflated }: RenderedPage, first: boolean): Promise<GzipPiece> =>
  first ? (deflated.first ??= deflatePiece(bytes.subarray(1))) : (deflated.whole ??= deflatePiece(bytes));
