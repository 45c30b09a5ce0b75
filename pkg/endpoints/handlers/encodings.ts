import type { CacheEntry } from '../../storage/cache-entry.ts';
import { isWhole, type EntryRange, type Kept, type Leaf, type Run } from '../../storage/leaf.ts';
import { deflatePiece, type GzipPiece } from '../gzip-pieces.ts';
import type { Conversion } from '../negotiation.ts';
import { rowTemplate, toPartialObjectMetadata, type Columns, type IncludeObject } from '../table.ts';
import { renderAgain, renderRows, type TablePage } from '../table-page.ts';

/** How the items of a list are written; `name` tells forms apart whose texts differ. */
export interface ItemForm {
  name: string;
  /** Whether entries have the text already. */
  cheap: boolean;
  encode: (entry: CacheEntry) => string;
}

const jsonForm: ItemForm = { name: 'json', cheap: true, encode: ({ json }) => json };

/** Whole objects, or their metadata. */
export const itemForm = (as: Conversion | undefined): ItemForm => {
  if (!as) return jsonForm;
  const apiVersion = `meta.k8s.io/${as.version}`;
  return { name: `metadata/${as.version}`, cheap: false, encode: ({ object }) => JSON.stringify(toPartialObjectMetadata(object, apiVersion)) };
};

/** The bytes of a range's items, each behind a comma, in pieces. A leaf's are made once, as long as it stays. */
export const itemPieces = (range: EntryRange, form: ItemForm): Buffer[] => stretchesOf(range).map((stretch) => bytesOf(stretch, form));

/** The same, compressed, the first without its comma. */
export const itemGzipPieces = (range: EntryRange, form: ItemForm): Promise<GzipPiece[]> =>
  Promise.all(
    stretchesOf(range).map((stretch, index) => {
      const skipped = index === 0 ? 1 : 0;
      if (!stretch.whole) return deflatePiece(bytesOf(stretch, form).subarray(skipped));
      return stretch.whole.derived(`${form.name}+gzip${skipped ? '+first' : ''}`, () => new CompressedItems(bytesOf(stretch, form).subarray(skipped))).piece;
    }),
  );

class CompressedItems implements Kept {
  readonly piece: Promise<GzipPiece>;
  byteLength = 0;

  constructor(bytes: Buffer) {
    this.piece = deflatePiece(bytes).then((piece) => {
      this.byteLength = piece.deflated.length;
      return piece;
    });
  }
}

/** The rows of a table, each behind a comma. Ages are of now: a leaf's rows are written anew when one of them changes. */
export const rowPages = (range: EntryRange, columns: Columns, include: IncludeObject, apiVersion: string, now: Date): TablePage[] => {
  const at = now.getTime();
  const rendered = (entries: readonly CacheEntry[]): TablePage => renderRows(entries.map(({ object }) => rowTemplate(columns, object, include, apiVersion)), at);
  return stretchesOf(range).map(({ whole, runs }) => {
    if (!whole) return rendered(runs.flatMap(({ leaf, from, to }) => leaf.entries.slice(from, to)));
    const kept = whole.derived(`rows/${include}/${apiVersion}`, (entries) => new Rows(rendered(entries)));
    if (at < kept.page.from || at >= kept.page.until) kept.page = renderAgain(kept.page, at);
    return kept.page;
  });
};

class Rows implements Kept {
  page: TablePage;

  constructor(page: TablePage) {
    this.page = page;
  }

  get byteLength(): number {
    const { bytes, ages } = this.page;
    return bytes.length + 2 * ages.starts.byteLength + ages.since.byteLength;
  }
}

/** A whole leaf, or what lies between two: a selection may be in hundreds of runs, which are to become one piece. */
interface Stretch {
  whole?: Leaf;
  runs: Run[];
}

const stretchesOf = ({ runs }: EntryRange): Stretch[] => {
  const stretches: Stretch[] = [];
  for (const run of runs) {
    const last = stretches.at(-1);
    if (isWhole(run)) stretches.push({ whole: run.leaf, runs: [run] });
    else if (last && !last.whole) last.runs.push(run);
    else stretches.push({ runs: [run] });
  }
  return stretches;
};

const bytesOf = ({ runs }: Stretch, form: ItemForm): Buffer => {
  const parts = runs.map(({ leaf, from, to }) => {
    const { bytes, ends } = leaf.derived(form.name, (entries) => packed(entries, form));
    return bytes.subarray(from === 0 ? 0 : ends[from - 1], ends[to - 1]);
  });
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
};

/** Items behind each other, and where each of them ends. */
interface Packed extends Kept {
  bytes: Buffer;
  ends: Uint32Array;
}

const packed = (entries: readonly CacheEntry[], { encode, cheap }: ItemForm): Packed => {
  const texts = entries.map((entry) => `,${encode(entry)}`);
  const bytes = Buffer.from(texts.join(''));
  let end = 0;
  const inAscii = bytes.length === texts.reduce((sum, { length }) => sum + length, 0);
  const ends = Uint32Array.from(texts, (text) => (end += inAscii ? text.length : Buffer.byteLength(text)));
  return { bytes, ends, cheap, byteLength: bytes.length + ends.byteLength };
};
