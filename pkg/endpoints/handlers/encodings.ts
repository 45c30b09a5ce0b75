import type { CacheEntry } from '../../storage/cache-entry.ts';
import type { EntryRange, Run } from '../../storage/leaf.ts';
import { deflatePiece, type GzipPiece } from '../gzip-pieces.ts';
import type { Conversion } from '../negotiation.ts';
import { rowTemplate, toPartialObjectMetadata, type Columns, type IncludeObject } from '../table.ts';
import { pageOf, renderPage, type RenderedPage, type TablePage } from '../table-page.ts';

/** How the items of a list are written; `name` tells forms apart whose bytes differ. */
export interface ItemForm {
  name: string;
  /** The items' bytes, each behind a comma. */
  encode: (entries: readonly CacheEntry[]) => Buffer;
}

const jsonForm: ItemForm = { name: 'json', encode: (entries) => Buffer.from(entries.map(({ json }) => `,${json}`).join('')) };

/** Whole objects, or their metadata. */
export const itemForm = (as: Conversion | undefined): ItemForm => {
  if (!as) return jsonForm;
  const apiVersion = `meta.k8s.io/${as.version}`;
  return {
    name: `metadata/${as.version}`,
    encode: (entries) => Buffer.from(entries.map(({ object }) => `,${JSON.stringify(toPartialObjectMetadata(object, apiVersion))}`).join('')),
  };
};

/** The bytes of a range's items, in pieces; those of whole leaves are made once as long as the leaf stays. */
export const itemPieces = (range: EntryRange, { name, encode }: ItemForm): Buffer[] =>
  range.runs.map((run) => (isWhole(run) ? run.leaf.derived(name, encode) : encode(run.leaf.entries.slice(run.from, run.to))));

/** The same, compressed, the first without its comma. */
export const itemGzipPieces = (range: EntryRange, { name, encode }: ItemForm): Promise<GzipPiece[]> =>
  Promise.all(
    range.runs.map((run, index) => {
      const skipped = index === 0 ? 1 : 0;
      if (!isWhole(run)) return deflatePiece(encode(run.leaf.entries.slice(run.from, run.to)).subarray(skipped));
      return run.leaf.derived(`${name}+gzip${skipped ? '+first' : ''}`, () => deflatePiece(run.leaf.derived(name, encode).subarray(skipped)));
    }),
  );

/** The rows of a table, each behind a comma. Ages are of now: a leaf's rows are written anew when one of them changes. */
export const rowPages = (range: EntryRange, columns: Columns, include: IncludeObject, apiVersion: string, now: Date): RenderedPage[] => {
  const template = (entries: readonly CacheEntry[]): TablePage => pageOf(entries.map(({ object }) => rowTemplate(columns, object, include, apiVersion)));
  return range.runs.map((run) => {
    if (!isWhole(run)) return renderPage(template(run.leaf.entries.slice(run.from, run.to)), now);
    const kept = run.leaf.derived(`rows/${include}/${apiVersion}`, (entries): { page: TablePage; rendered?: RenderedPage } => ({ page: template(entries) }));
    const at = now.getTime();
    if (!kept.rendered || at < kept.rendered.from || at >= kept.rendered.until) kept.rendered = renderPage(kept.page, now);
    return kept.rendered;
  });
};

const isWhole = ({ leaf, from, to }: Run): boolean => from === 0 && to === leaf.entries.length;
