import { quote } from './quote.ts';
import { isObject } from '../../json/object.ts';
import { fieldSchema, type StructuralSchema } from './schema.ts';

export interface SchemaFault {
  /** Path of the field, as in `spec.list[0].bar`. */
  field: string;
  reason: 'FieldValueTypeInvalid';
  message: string;
}

/**
 * The values whose type is not the schema's, worded as a CustomResourceDefinition words them: what our own code (admission,
 * the codecs) must be able to rely on before anything is written. Everything else that a schema demands is the backing
 * object's own validation to say.
 */
export const validateSchema = (schema: StructuralSchema, value: unknown): SchemaFault[] => {
  const faults: SchemaFault[] = [];
  visit(schema, value, '', faults);
  return faults;
};

const visit = (schema: StructuralSchema, value: unknown, path: string, faults: SchemaFault[]): void => {
  const wanted = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type === undefined ? undefined : [schema.type];
  const found = typeOf(value);
  if (value === null && schema.nullable === true) return;
  if (wanted && !wanted.some((type) => type === found || (type === 'number' && found === 'integer'))) {
    const body = path === '' ? 'value' : path;
    faults.push({
      field: path,
      reason: 'FieldValueTypeInvalid',
      message: `Invalid value: ${quote(found)}: ${body} in body must be of type ${wanted.join(',')}: ${quote(found)}`,
    });
    return;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) value.forEach((item, index) => visit(items, item, `${path}[${index}]`, faults));
  } else if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      const known = fieldSchema(schema, key);
      if (known) visit(known, field, path === '' ? key : `${path}.${key}`, faults);
    }
  }
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};
