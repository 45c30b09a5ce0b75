import { isObject } from '../../json/object.ts';
import { fieldSchema, mapFields, mapItems, type StructuralSchema } from './schema.ts';

const isUnwelcomeNull = (value: unknown, schema: StructuralSchema | undefined): boolean =>
  value === null && schema !== undefined && schema.nullable !== true;

const hasDefault = (schema: StructuralSchema): boolean => schema.default !== undefined && schema.default !== null;

/**
 * Fills in the defaults of a structural schema as a CustomResourceDefinition does: a missing field with a default gets a copy
 * of it, a null where null is not allowed counts as missing, and defaults are filled in within defaults. The value itself is
 * left as it is; what has not changed is shared with the result.
 */
export const applyDefaults = (schema: StructuralSchema | undefined, value: unknown): unknown => {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return mapItems(value, (item) => applyDefaults(items, isUnwelcomeNull(item, items) ? structuredClone(items?.default ?? null) : item));
  }
  if (!isObject(value)) return value;

  const missing: [string, unknown][] = [];
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (hasDefault(property) && !Object.hasOwn(value, key)) missing.push([key, applyDefaults(property, structuredClone(property.default))]);
  }
  const present = mapFields(value, (key, field) => {
    const known = fieldSchema(schema, key);
    return applyDefaults(known, isUnwelcomeNull(field, known) ? structuredClone(known?.default ?? null) : field);
  });
  return missing.length === 0 ? present : { ...present, ...Object.fromEntries(missing) };
};

/** Drops fields that are null where null is neither allowed nor replaced by a default. Runs between pruning and defaulting. */
export const dropNulls = (schema: StructuralSchema | undefined, value: unknown): unknown => {
  if (Array.isArray(value)) return mapItems(value, (item) => dropNulls(schema?.items, item));
  if (!isObject(value)) return value;
  return mapFields(value, (key, field) => {
    const known = fieldSchema(schema, key);
    return isUnwelcomeNull(field, known) && known && !hasDefault(known) ? undefined : dropNulls(known, field);
  });
};
