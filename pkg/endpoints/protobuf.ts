import { StatusError } from '../kube/status-error.ts';

/**
 * The protobuf form (proto2) of the few types that a custom resource has in it: metadata alone, lists of it, Status, and watch
 * events. Field numbers are those of apimachinery's generated.proto. Like there, fields that are no pointers are written
 * even where they are empty, and maps are sorted.
 */
export interface ProtoField {
  number: number;
  name: string;
  type: 'string' | 'int' | 'bool' | 'bytes' | 'json' | 'time' | 'labels' | ProtoMessage;
  /** Whether it is left out where it is not set. */
  optional?: true;
  repeated?: true;
}
export type ProtoMessage = readonly ProtoField[];

const fields = (...entries: readonly [number, string, ProtoField['type'], ('optional' | 'repeated')?][]): ProtoMessage =>
  entries.map(([number, name, type, kind]) => ({ number, name, type, ...(kind === 'optional' && { optional: true }), ...(kind === 'repeated' && { repeated: true }) }));

const ownerReference = fields([1, 'kind', 'string'], [3, 'name', 'string'], [4, 'uid', 'string'], [5, 'apiVersion', 'string'], [6, 'controller', 'bool', 'optional'], [7, 'blockOwnerDeletion', 'bool', 'optional']);
const managedFieldsEntry = fields(
  [1, 'manager', 'string'], [2, 'operation', 'string'], [3, 'apiVersion', 'string'], [4, 'time', 'time', 'optional'], [6, 'fieldsType', 'string'],
  [7, 'fieldsV1', fields([1, '', 'json', 'optional']), 'optional'], [8, 'subresource', 'string'],
);
const objectMeta = fields(
  [1, 'name', 'string'], [2, 'generateName', 'string'], [3, 'namespace', 'string'], [4, 'selfLink', 'string'], [5, 'uid', 'string'], [6, 'resourceVersion', 'string'],
  [7, 'generation', 'int'], [8, 'creationTimestamp', 'time'], [9, 'deletionTimestamp', 'time', 'optional'], [10, 'deletionGracePeriodSeconds', 'int', 'optional'],
  [11, 'labels', 'labels'], [12, 'annotations', 'labels'], [13, 'ownerReferences', ownerReference, 'repeated'], [14, 'finalizers', 'string', 'repeated'],
  [17, 'managedFields', managedFieldsEntry, 'repeated'],
);
const listMeta = fields([1, 'selfLink', 'string'], [2, 'resourceVersion', 'string'], [3, 'continue', 'string'], [4, 'remainingItemCount', 'int', 'optional']);
const partialObjectMetadata = fields([1, 'metadata', objectMeta]);
const statusDetails = fields(
  [1, 'name', 'string'], [2, 'group', 'string'], [3, 'kind', 'string'], [4, 'causes', fields([1, 'reason', 'string'], [2, 'message', 'string'], [3, 'field', 'string']), 'repeated'],
  [5, 'retryAfterSeconds', 'int'], [6, 'uid', 'string'],
);

/** By kind. */
export const protoMessages: ReadonlyMap<unknown, ProtoMessage> = new Map([
  ['PartialObjectMetadata', partialObjectMetadata],
  ['PartialObjectMetadataList', fields([1, 'metadata', listMeta], [2, 'items', partialObjectMetadata, 'repeated'])],
  ['Status', fields([1, 'metadata', listMeta], [2, 'status', 'string'], [3, 'message', 'string'], [4, 'reason', 'string'], [5, 'details', statusDetails, 'optional'], [6, 'code', 'int'])],
]);

/** What stands before a message: its type (runtime.Unknown). */
export const protoEnvelope = fields([1, '', fields([1, 'apiVersion', 'string'], [2, 'kind', 'string'])], [2, 'raw', 'bytes'], [3, 'contentEncoding', 'string'], [4, 'contentType', 'string']);
const watchEvent = fields([1, 'type', 'string'], [2, '', fields([1, 'object', 'bytes'])]);
export const protoMagic = Buffer.from('k8s\0');

interface Typed {
  apiVersion: string;
  kind: string;
}

/** Bytes as a text with a character for each: hundreds of small pieces are joined many times faster than as Buffers. */
type Bytes = string;

const toBuffer = (bytes: Bytes): Buffer => Buffer.from(bytes, 'latin1');

/** @throws StatusError 406 for what has no such form */
export const encodeProtobuf = (value: Typed): Buffer => toBuffer(enveloped(value));

/** An event of a watch behind its length, as streams have it. */
export const encodeProtobufEvent = (type: string, object: Typed): Buffer => {
  const event = messageBytes(watchEvent, { type, object: enveloped(object) });
  const bytes = Buffer.alloc(4 + event.length);
  bytes.writeUInt32BE(event.length);
  bytes.write(event, 4, 'latin1');
  return bytes;
};

/** A field without name holds the fields of its message itself, or is its whole value. */
export const encodeMessage = (message: ProtoMessage, source: object): Buffer => toBuffer(messageBytes(message, source));

const enveloped = (value: Typed): Bytes => {
  const message = protoMessages.get(value.kind);
  if (!message) throw new StatusError(406, 'NotAcceptable', `object of kind ${value.kind} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message`);
  return protoMagic.toString('latin1') + messageBytes(protoEnvelope, { ...value, raw: messageBytes(message, value) });
};

const messageBytes = (message: ProtoMessage, source: object): Bytes => {
  let bytes = '';
  for (const { number, name, type, optional, repeated } of message) {
    const value: unknown = name === '' ? source : (source as Record<string, unknown>)[name];
    if (optional && (value === undefined || value === null)) continue;
    if (repeated) for (const item of (value ?? []) as unknown[]) bytes += fieldBytes(number, type, item);
    else if (type === 'labels') for (const entry of Object.entries((value ?? {}) as object).toSorted(([a], [b]) => (a < b ? -1 : 1))) bytes += fieldBytes(number, type, entry);
    else bytes += fieldBytes(number, type, value);
  }
  return bytes;
};

const label = fields([1, 'key', 'string'], [2, 'value', 'string']);

const fieldBytes = (number: number, type: ProtoField['type'], value: unknown): Bytes => {
  if (type === 'int' || type === 'bool') return varint(number * 8) + varint(Number(value ?? 0));
  const bytes = valueBytes(type, value);
  return varint(number * 8 + 2) + varint(bytes.length) + bytes;
};

const valueBytes = (type: Exclude<ProtoField['type'], 'int' | 'bool'>, value: unknown): Bytes => {
  switch (type) {
    case 'string':
      return utf8((value ?? '') as string);
    case 'bytes':
      return value as Bytes;
    case 'json':
      return utf8(JSON.stringify(value));
    case 'time':
      return timestamp(value as string | null | undefined);
    case 'labels': {
      const [key, text] = value as [string, string];
      return messageBytes(label, { key, value: text });
    }
    default:
      return messageBytes(type, (value ?? {}) as object);
  }
};

const utf8 = (text: string): Bytes => (isAscii(text) ? text : Buffer.from(text).toString('latin1'));

// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => !/[^\u0000-\u007f]/.test(text);

/** Seconds and nanoseconds; nothing for no time. */
const timestamp = (text: string | null | undefined): Bytes => (text ? varint(8) + varint(Math.floor(Date.parse(text) / 1000)) + varint(16) + varint(0) : '');

const varint = (value: number): Bytes => {
  if (value >= 0 && value < 0x80) return String.fromCharCode(value);
  let bytes = '';
  let rest = BigInt.asUintN(64, BigInt(value)); // also of what is negative
  while (rest > 0x7fn) {
    bytes += String.fromCharCode(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return bytes + String.fromCharCode(Number(rest));
};
