import { parseGoTime, TimeSyntaxError } from './go-time.ts';
import { isObject, own, type JsonObject } from '../../json/object.ts';

/** metadata that cannot be read as ObjectMeta, in the words of Kubernetes' decoder. */
export class MetadataError extends Error {}

type FieldType = 'string' | 'int64' | 'bool' | 'time' | 'any' | 'stringMap' | 'stringList' | { list: StructType };

interface StructType {
  name: string;
  fields: Record<string, FieldType>;
  /** Fields written even when they are empty. */
  always?: readonly string[];
  /** Fields that tell empty from absent, and so are kept when they hold a zero value. */
  pointers?: readonly string[];
}

const ownerReference: StructType = {
  name: 'OwnerReference',
  fields: { apiVersion: 'string', kind: 'string', name: 'string', uid: 'string', controller: 'bool', blockOwnerDeletion: 'bool' },
  always: ['apiVersion', 'kind', 'name', 'uid'],
  pointers: ['controller', 'blockOwnerDeletion'],
};

const managedFieldsEntry: StructType = {
  name: 'ManagedFieldsEntry',
  fields: { manager: 'string', operation: 'string', apiVersion: 'string', time: 'time', fieldsType: 'string', fieldsV1: 'any', subresource: 'string' },
};

const objectMeta: StructType = {
  name: 'ObjectMeta',
  fields: {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    selfLink: 'string',
    uid: 'string',
    resourceVersion: 'string',
    generation: 'int64',
    creationTimestamp: 'time',
    deletionTimestamp: 'time',
    deletionGracePeriodSeconds: 'int64',
    labels: 'stringMap',
    annotations: 'stringMap',
    ownerReferences: { list: ownerReference },
    finalizers: 'stringList',
    managedFields: { list: managedFieldsEntry },
  },
  pointers: ['deletionGracePeriodSeconds', 'deletionTimestamp'],
};

/** The order in which Kubernetes writes the fields of a typed ObjectMeta, as in PartialObjectMetadata. */
export const objectMetaFields: readonly string[] = Object.keys(objectMeta.fields);

/** The name that the message of a type error gives a type. */
const typeNames: Record<string, string> = {
  string: 'string',
  int64: 'int64',
  bool: 'bool',
  stringMap: 'map[string]string',
  stringList: '[]string',
};

/** Names of types that are strings under another name. */
const stringTypes: Record<string, string> = { 'ObjectMeta.uid': 'types.UID', 'OwnerReference.uid': 'types.UID', 'ManagedFieldsEntry.operation': 'v1.ManagedFieldsOperationType' };

interface Reading {
  unknownFields: string[];
  /** The first field of a wrong type; reading goes on past it, and a malformed time behind it is what is reported. */
  fault: string | undefined;
}

/**
 * Reads `metadata` as a typed ObjectMeta and gives it back as Kubernetes would write it: unknown and empty fields are gone,
 * times are in UTC with whole seconds.
 * @returns the paths of unknown fields as `metadata.foo`, in the order of their names
 * @throws MetadataError where a known field has a wrong type
 */
export const coerceMetadata = (metadata: unknown): { metadata: JsonObject; unknownFields: string[] } => {
  if (metadata === null) return { metadata: {}, unknownFields: [] };
  if (!isObject(metadata)) throw new MetadataError(`json: cannot unmarshal ${literalOf(metadata)} into Go value of type v1.ObjectMeta`);
  const reading: Reading = { unknownFields: [], fault: undefined };
  const value = readStruct(objectMeta, metadata, [], 'metadata', reading);
  if (reading.fault !== undefined) throw new MetadataError(reading.fault);
  return { metadata: value, unknownFields: reading.unknownFields };
};

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

const readStruct = (type: StructType, value: JsonObject, names: readonly string[], path: string, reading: Reading): JsonObject => {
  const read: [string, unknown][] = [];
  for (const key of Object.keys(value).toSorted(byName)) {
    const field = own(type.fields, key);
    if (field === undefined) {
      reading.unknownFields.push(`${path}.${key}`);
      continue;
    }
    const result = readField(field, value[key], { type, names: [...names, key], path: `${path}.${key}`, reading });
    if (result !== undefined && (type.pointers?.includes(key) || !isEmpty(result))) read.push([key, result]);
  }
  for (const key of type.always ?? []) if (!read.some(([name]) => name === key)) read.push([key, '']);
  return Object.fromEntries(read);
};

/** The time that stands for none. */
const zeroTime = '0001-01-01T00:00:00Z';

const isEmpty = (value: unknown): boolean =>
  value === '' || value === zeroTime || value === 0 || value === false || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

interface Place {
  type: StructType;
  names: readonly string[];
  path: string;
  reading: Reading;
}

const readField = (field: FieldType, value: unknown, place: Place): unknown => {
  if (value === null) return undefined;
  if (typeof field === 'object') return readList(field.list, value, place);
  switch (field) {
    case 'any':
      return value;
    case 'time':
      return readTime(value, place);
    case 'stringMap':
      if (!isObject(value)) return mistyped(field, value, place);
      return Object.fromEntries(Object.keys(value).toSorted(byName).map((key) => [key, readField('string', value[key], place) ?? '']));
    case 'stringList':
      if (!Array.isArray(value)) return mistyped(field, value, place);
      return value.map((item) => readField('string', item, place) ?? '');
    case 'int64':
      return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? value : mistyped(field, value, place);
    case 'bool':
      return typeof value === 'boolean' ? value : mistyped(field, value, place);
    case 'string':
      return typeof value === 'string' ? value : mistyped(field, value, place);
  }
};

const readList = (item: StructType, value: unknown, place: Place): unknown => {
  const list = `[]v1.${item.name}`;
  if (!Array.isArray(value)) return note(place, `${literalOf(value)} into Go struct field ${fieldOf(place)} of type ${list}`);
  return value.map((entry, index) => {
    if (isObject(entry)) return readStruct(item, entry, place.names, `${place.path}[${index}]`, place.reading);
    if (entry !== null) note(place, `${literalOf(entry)} into Go struct field ${fieldOf(place)} of type v1.${item.name}`);
    return readStruct(item, {}, place.names, place.path, place.reading);
  });
};

const readTime = (value: unknown, place: Place): unknown => {
  if (typeof value !== 'string') throw new MetadataError(`json: cannot unmarshal ${literalOf(value)} into Go struct field ${fieldOf(place)} of type string`);
  try {
    return `${new Date(parseGoTime(value)).toISOString().slice(0, 19)}Z`;
  } catch (error) {
    throw error instanceof TimeSyntaxError ? new MetadataError(error.message) : error;
  }
};

const fieldOf = ({ type, names }: Place): string => `${type.name}.${names.join('.')}`;

const mistyped = (field: Exclude<FieldType, object>, value: unknown, place: Place): undefined => {
  const known = field === 'string' ? stringTypes[`${place.type.name}.${place.names.at(-1)}`] : undefined;
  // Whole-number fields show the literal, others only its kind.
  const shown = field === 'int64' && typeof value === 'number' ? `number ${value}` : literalOf(value);
  return note(place, `${shown} into Go struct field ${fieldOf(place)} of type ${known ?? typeNames[field] ?? field}`);
};

const note = ({ reading }: Place, what: string): undefined => {
  reading.fault ??= `json: cannot unmarshal ${what}`;
};

const literalOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);
