import type { KubeObject, Status } from '../../../api/meta/v1/types.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../api/resource.ts';
import { CacheEntry } from '../../storage/cache-entry.ts';
import type { CacheEvent } from '../../storage/watch-cache.ts';
import type { Conversion, OutputFormat } from '../negotiation.ts';
import { encodeProtobufEvent } from '../protobuf.ts';
import { table, toPartialObjectMetadata, type Columns, type IncludeObject } from '../table.ts';

/** Encodes the events of one watch: as lines of JSON, or as protobuf behind its length. */
export interface EventEncoder {
  event(type: CacheEvent['type'], entry: CacheEntry): Buffer;
  bookmark(version: number, initialEventsEnd: boolean): Buffer;
  error(status: Status): Buffer;
}

/** Marks the bookmark that ends the initial events (KEP-3157). */
const initialEventsEndAnnotation = 'k8s.io/initial-events-end';

/** Events are encoded once for all watches of one form; tables hold ages, and repeat the columns only in the first. */
export const eventEncoder = (
  definition: ResourceDefinition,
  { as, mediaType }: OutputFormat,
  columns: Columns,
  tableOptions: { now: () => Date; include: IncludeObject },
): EventEncoder => {
  if (as?.kind === 'Table') return tableEncoder(definition, columns, as.version, tableOptions);
  const line = mediaType === 'application/json' ? jsonLine : encodeProtobufEvent;
  const form = as ? `${as.kind}/${as.version}/${mediaType}` : 'json';
  const encode = (type: CacheEvent['type'], entry: CacheEntry): Buffer =>
    as ? line(type, toPartialObjectMetadata(entry.object, `meta.k8s.io/${as.version}`)) : Buffer.from(`{"type":"${type}","object":${entry.json}}\n`);
  return {
    event: (type, entry) => shared(entry, `${type}/${form}`, () => encode(type, entry)),
    bookmark: (version, initialEventsEnd) => {
      const object = bookmarkObject(definition, version, initialEventsEnd);
      return line('BOOKMARK', as ? { ...object, apiVersion: `meta.k8s.io/${as.version}`, kind: as.kind } : object);
    },
    error: (status) => line('ERROR', status),
  };
};

/** Entries whose lines are kept at the most: all watches that keep up see an event within that many others. */
const maxShared = 1024;
const lastLines = new Map<CacheEntry, Map<string, Buffer>>(); // in the order of their first use

/** Made once for all watches that see the entry at about the same time. */
const shared = (entry: CacheEntry, form: string, make: () => Buffer): Buffer => {
  let lines = lastLines.get(entry);
  if (!lines) {
    lastLines.set(entry, (lines = new Map()));
    if (lastLines.size > maxShared) lastLines.delete(lastLines.keys().next().value!);
  }
  let bytes = lines.get(form);
  if (!bytes) lines.set(form, (bytes = unpooled(make())));
  return bytes;
};

/** Bytes that stay must not be a slice of Node's buffer pool: they would keep 64 KiB of it each. */
const unpooled = (bytes: Buffer): Buffer => {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};

const tableEncoder = (
  definition: ResourceDefinition,
  columns: Columns,
  version: Conversion['version'],
  { now, include }: { now: () => Date; include: IncludeObject },
): EventEncoder => {
  let headers = true;
  const encodeTable = (type: string, object: KubeObject): Buffer => {
    const encoded = jsonLine(type, table(columns, object, { now: now(), include, apiVersion: `meta.k8s.io/${version}`, headers }));
    headers = false;
    return encoded;
  };
  return {
    event: (type, entry) => encodeTable(type, entry.object),
    bookmark: (at, initialEventsEnd) => encodeTable('BOOKMARK', bookmarkObject(definition, at, initialEventsEnd)),
    error: (status) => jsonLine('ERROR', status),
  };
};

const bookmarkObject = (definition: ResourceDefinition, version: number, initialEventsEnd: boolean): KubeObject => ({
  apiVersion: apiVersionOf(definition),
  kind: definition.kind,
  metadata: { resourceVersion: String(version), ...(initialEventsEnd && { annotations: { [initialEventsEndAnnotation]: 'true' } }) },
});

const jsonLine = (type: string, object: object): Buffer => Buffer.from(`${JSON.stringify({ type, object })}\n`);

/**
 * What an event is to a watch with a selector: an object that begins to match is added, one that stops to match is
 * deleted, with its last matching state and the event's version. Undefined where the watch does not see it.
 */
export const selectedEvent = (event: CacheEvent, selects: ((entry: CacheEntry) => boolean) | undefined): { type: CacheEvent['type']; entry: CacheEntry } | undefined => {
  const { type, entry, previous } = event;
  if (type === 'DELETED') {
    const last = previous ?? entry;
    return !selects || selects(last) ? { type, entry: previous ? deletedEntry(event) : entry } : undefined;
  }
  if (!selects) return { type: previous ? 'MODIFIED' : 'ADDED', entry };
  const before = previous !== undefined && selects(previous);
  if (selects(entry)) return { type: before ? 'MODIFIED' : 'ADDED', entry };
  return before ? { type: 'DELETED', entry: deletedEntry(event) } : undefined;
};

const deletedEntries = new WeakMap<CacheEvent, CacheEntry>();

/** The state before, at the event's version: made once an event. */
const deletedEntry = (event: CacheEvent): CacheEntry => {
  let deleted = deletedEntries.get(event);
  if (!deleted) {
    const { object } = event.previous!;
    deleted = new CacheEntry({ ...object, metadata: { ...object.metadata, resourceVersion: String(event.entry.version) } });
    deletedEntries.set(event, deleted);
  }
  return deleted;
};
