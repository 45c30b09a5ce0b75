import type { KubeObject, ListMeta, ObjectMeta } from '../../api/meta/v1/types.ts';
import type { PrinterColumn, ResourceDefinition } from '../../api/resource.ts';
import { humanDuration } from './duration.ts';
import { compileJsonPath } from './jsonpath.ts';
import { parseTime } from './structural/go-time.ts';
import { objectMetaFields } from './structural/object-meta.ts';
import { goJson, printNumber } from './structural/quote.ts';

/** meta.k8s.io/v1 Table (KEP-575): what `kubectl get` shows. */
export interface TableColumnDefinition {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableRow {
  cells: unknown[];
  object: unknown;
}

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: ListMeta;
  /** null in the second and later events of a watch. */
  columnDefinitions: TableColumnDefinition[] | null;
  rows: TableRow[];
}

export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata';
  apiVersion: string;
  metadata: ObjectMeta;
}

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** A cell whose text depends on when it is read: milliseconds since the epoch. */
export interface AgeCell {
  since: number;
}

export interface Columns {
  columnDefinitions: TableColumnDefinition[];
  /** One cell a column, an age still as a time. */
  timelessCells(object: KubeObject): unknown[];
  /** One cell a column, as they stand in a Table. */
  cells(object: KubeObject, now: Date): unknown[];
}

const nameColumn: TableColumnDefinition = {
  name: 'Name',
  type: 'string',
  format: 'name',
  // The kube-apiserver's own words: clients compare columns of all kinds.
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
};

/** The columns that the kube-apiserver gives a CustomResourceDefinition with the same additionalPrinterColumns; compiled once a kind. */
export const compileColumns = ({ printerColumns }: Pick<ResourceDefinition, 'printerColumns'>): Columns => {
  const cellOf = printerColumns.map(compileCell);
  const timelessCells = (object: KubeObject): unknown[] => [object.metadata.name ?? '', ...cellOf.map((cell) => cell(object))];
  return {
    columnDefinitions: [nameColumn, ...printerColumns.map(columnDefinition)],
    timelessCells,
    cells: (object, now) => timelessCells(object).map((cell) => (isAge(cell) ? age(cell, now) : cell)),
  };
};

const columnDefinition = ({ name, type, format = '', description, priority = 0, jsonPath }: PrinterColumn): TableColumnDefinition => ({
  name,
  type,
  format,
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  priority,
});

const isAge = (cell: unknown): cell is AgeCell => typeof cell === 'object' && cell !== null;
const age = ({ since }: AgeCell, now: Date): string => humanDuration(now.getTime() - since);

const compileCell = ({ type, jsonPath }: PrinterColumn): ((object: KubeObject) => unknown) => {
  const find = compileJsonPath(jsonPath);
  const convert = converters[type];
  return (object) => {
    const found = find(object);
    return found.length === 0 ? null : convert(found[0]);
  };
};

/** From a value to a cell; null where the value is not of the column's type. */
const converters: Record<PrinterColumn['type'], (value: unknown) => unknown> = {
  string: (value) => {
    if (value === null) return '<no value>';
    if (typeof value === 'object') return goJson(value);
    return typeof value === 'number' ? printNumber(value) : String(value as string | boolean);
  },
  integer: (value) => (typeof value === 'number' ? Math.trunc(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value) => {
    if (typeof value !== 'string') return null;
    if (value === '' || value === 'null') return '<unknown>';
    const since = parseTime(value);
    return since === undefined ? '<invalid>' : ({ since } satisfies AgeCell);
  },
};

/** The metadata of any object, with its fields in the order in which Kubernetes writes them. */
export const toPartialObjectMetadata = (object: Pick<KubeObject, 'metadata'>, apiVersion = 'meta.k8s.io/v1'): PartialObjectMetadata => {
  const metadata = object.metadata as Record<string, unknown>;
  const present = objectMetaFields.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]);
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: Object.fromEntries(present) as ObjectMeta };
};

const objectOf = (object: KubeObject, include: IncludeObject, apiVersion: string): unknown => {
  if (include === 'None') return null;
  return include === 'Object' ? object : toPartialObjectMetadata(object, apiVersion);
};

/** @param apiVersion of the Table, which its partial objects share */
export const tableRow = (columns: Columns, object: KubeObject, now: Date, include: IncludeObject = 'Metadata', apiVersion = 'meta.k8s.io/v1'): TableRow => ({
  cells: columns.cells(object, now),
  object: objectOf(object, include, apiVersion),
});

export interface TableOptions {
  now: Date;
  include?: IncludeObject;
  /** `meta.k8s.io/v1`, or `meta.k8s.io/v1beta1` where a client asks for that. */
  apiVersion?: string;
  /** False from the second event of a watch on. */
  headers?: boolean;
}

/** A Table of one object, or of a list: version, continue token and remaining count are the list's. */
export const table = (columns: Columns, source: KubeObject | { metadata: ListMeta; items: KubeObject[] }, options: TableOptions): Table => {
  const { now, include, apiVersion = 'meta.k8s.io/v1', headers = true } = options;
  const items = 'items' in source && Array.isArray(source.items) ? (source.items as KubeObject[]) : [source as KubeObject];
  return {
    kind: 'Table',
    apiVersion,
    metadata: tableMeta('items' in source ? (source.metadata as ListMeta) : { resourceVersion: source.metadata.resourceVersion ?? '' }),
    columnDefinitions: headers ? columns.columnDefinitions : null,
    rows: items.map((item) => tableRow(columns, item, now, include, apiVersion)),
  };
};

const tableMeta = ({ resourceVersion, continue: token, remainingItemCount }: ListMeta): ListMeta => ({
  ...(resourceVersion && { resourceVersion }),
  ...(token && { continue: token }),
  ...(remainingItemCount !== undefined && { remainingItemCount }),
});

/** A row as JSON text with its ages left open: `parts[0] + age(since[0]) + parts[1] + …`. Kept as long as the object is. */
export interface RowTemplate {
  parts: string[];
  since: number[];
}

export const rowTemplate = (columns: Columns, object: KubeObject, include: IncludeObject = 'Metadata', apiVersion = 'meta.k8s.io/v1'): RowTemplate => {
  const template: RowTemplate = { parts: [], since: [] };
  let text = '{"cells":[';
  columns.timelessCells(object).forEach((cell, index) => {
    if (index > 0) text += ',';
    if (!isAge(cell)) text += JSON.stringify(cell);
    else {
      template.parts.push(`${text}"`);
      template.since.push(cell.since);
      text = '"';
    }
  });
  template.parts.push(`${text}],"object":${JSON.stringify(objectOf(object, include, apiVersion))}}`);
  return template;
};

/** The row at a time: the same text as the JSON of `tableRow`. */
export const renderRow = ({ parts, since }: RowTemplate, now: Date): string => {
  let text = parts[0] ?? '';
  for (const [index, start] of since.entries()) text += humanDuration(now.getTime() - start) + (parts[index + 1] ?? '');
  return text;
};
