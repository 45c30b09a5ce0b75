import { ageChangesAt, humanDuration } from './duration.ts';
import { deflatePiece, type GzipPiece } from './gzip-pieces.ts';
import type { RowTemplate } from './table.ts';

/** Rows of a table, each behind a comma, right from one moment until just before another; milliseconds since the epoch. */
export interface TablePage {
  readonly bytes: Buffer;
  readonly from: number;
  readonly until: number;
  /** Where the bytes tell an age, and of what: the rest stays as it is as long as the objects do. */
  readonly ages: { readonly starts: Uint32Array; readonly ends: Uint32Array; readonly since: Float64Array };
  /** The bytes compressed, all of them or all but the first comma; made at first use. */
  readonly deflated: { whole?: Promise<GzipPiece>; first?: Promise<GzipPiece> };
}

export const renderRows = (rows: readonly RowTemplate[], now: number): TablePage => {
  const texts: string[] = [];
  const [starts, ends, since]: number[][] = [[], [], []];
  let length = 0;
  const add = (text: string): void => {
    texts.push(text);
    length += Buffer.byteLength(text);
  };
  for (const row of rows) {
    add(',');
    for (const [index, part] of row.parts.entries()) {
      add(part);
      if (index === row.since.length) break;
      starts!.push(length);
      add(humanDuration(now - row.since[index]!));
      ends!.push(length);
      since!.push(row.since[index]!);
    }
  }
  return pageOf(Buffer.from(texts.join('')), { starts: Uint32Array.from(starts!), ends: Uint32Array.from(ends!), since: Float64Array.from(since!) }, now);
};

/** The same rows at another time. */
export const renderAgain = ({ bytes: before, ages }: Pick<TablePage, 'bytes' | 'ages'>, now: number): TablePage => {
  const texts = Array.from(ages.since, (since) => humanDuration(now - since));
  const grownBy = texts.reduce((sum, text, index) => sum + text.length - (ages.ends[index]! - ages.starts[index]!), 0);
  const bytes = Buffer.allocUnsafeSlow(before.length + grownBy);
  const [starts, ends] = [new Uint32Array(texts.length), new Uint32Array(texts.length)];
  let [copied, at] = [0, 0];
  for (const [index, text] of texts.entries()) {
    starts[index] = at + before.copy(bytes, at, copied, ages.starts[index]);
    ends[index] = starts[index]! + bytes.write(text, starts[index], 'latin1');
    [copied, at] = [ages.ends[index]!, ends[index]!];
  }
  before.copy(bytes, at, copied);
  return pageOf(bytes, { starts, ends, since: ages.since }, now);
};

const pageOf = (bytes: Buffer, ages: TablePage['ages'], now: number): TablePage => {
  const until = ages.since.reduce((soonest, since) => Math.min(soonest, ageChangesAt(since, now)), Number.POSITIVE_INFINITY);
  return { bytes, from: now, until, ages, deflated: {} };
};

/** A page's bytes, compressed; without its comma where the page is the first of a list. */
export const deflatedPage = ({ bytes, deflated }: TablePage, first: boolean): Promise<GzipPiece> =>
  first ? (deflated.first ??= deflatePiece(bytes.subarray(1))) : (deflated.whole ??= deflatePiece(bytes));
