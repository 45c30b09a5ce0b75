import { isObject, own, type JsonObject } from '../../json/object.ts';
import { mapFields, mapItems, type StructuralSchema } from './schema.ts';

const metaFields = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops the fields that a structural schema does not know, as a CustomResourceDefinition does at the root of an object, where
 * apiVersion, kind and metadata always stay. The object itself is left as it is.
 * @returns the pruned object and the paths of what was dropped, sorted by code unit, as in `spec.list[0].bar`
 */
export const prune = (schema: StructuralSchema | undefined, object: JsonObject): { value: JsonObject; unknownFields: string[] } => {
  const unknownFields: string[] = [];
  const value = pruneValue({ ...schema, 'x-kubernetes-embedded-resource': true }, object, '', unknownFields) as JsonObject;
  return { value, unknownFields: unknownFields.toSorted() };
};

const below = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** `keep`: below a schema that keeps what it does not know, only the known parts are looked into. */
const pruneValue = (schema: StructuralSchema | undefined, value: unknown, path: string, unknown: string[], kept = false): unknown => {
  const keep = kept || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) {
    if (keep && !schema?.items) return value;
    return mapItems(value, (item, index) => pruneValue(schema?.items, item, `${path}[${index}]`, unknown, keep));
  }
  if (!isObject(value)) return value;
  return mapFields(value, (key, field) => {
    if (schema?.['x-kubernetes-embedded-resource'] === true && metaFields.has(key)) return field;
    const property = own(schema?.properties, key);
    if (property) return pruneValue(property, field, below(path, key), unknown);
    const any = schema?.additionalProperties;
    if (typeof any === 'object') return pruneValue(any, field, below(path, key), unknown);
    if (any === true || keep) return field;
    unknown.push(below(path, key));
    return undefined;
  });
};
