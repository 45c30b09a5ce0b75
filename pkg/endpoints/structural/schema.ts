import { own, type JsonObject } from '../../json/object.ts';
import type { TSchema } from 'typebox';

/** The keys of a structural schema (CRD v1) that change how a value is read; descriptions and validation travel along untouched. */
export interface StructuralSchema {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema | boolean;
  items?: StructuralSchema;
  required?: string[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  [keyword: string]: unknown;
}

/** A kind's schema as the structural schema that its builders guarantee it to be. */
export const structuralOf = (schema: TSchema): StructuralSchema => schema as StructuralSchema;

/** The schema of a field: the named property, else that of any key; nothing where the field is unknown. */
export const fieldSchema = (schema: StructuralSchema | undefined, key: string): StructuralSchema | undefined => {
  const property = own(schema?.properties, key);
  if (property) return property;
  const any = schema?.additionalProperties;
  return typeof any === 'object' ? any : undefined;
};

/**
 * Rebuilds an object field by field, and gives back the very same object where nothing changed. `change` gives a field's new
 * value, or `undefined` to leave it out. Safe for a key named `__proto__`.
 */
export const mapFields = (object: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject => {
  const entries: [string, unknown][] = [];
  let changed = false;
  for (const key of Object.keys(object)) {
    const before = object[key];
    const after = change(key, before);
    changed ||= after !== before;
    if (after !== undefined) entries.push([key, after]);
  }
  return changed ? Object.fromEntries(entries) : object;
};

/** The same for a list, whose items are never left out. */
export const mapItems = (list: unknown[], change: (item: unknown, index: number) => unknown): unknown[] => {
  let changed = false;
  const items = list.map((item, index) => {
    const after = change(item, index);
    changed ||= after !== item;
    return after;
  });
  return changed ? items : list;
};
