import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import { StatusError } from '../kube/status-error.ts';

interface Term {
  field: string;
  value: string;
  equal: boolean;
}

/** A parsed field selector (fields.ParseSelector of apimachinery): all terms must hold. */
export interface FieldSelector {
  readonly empty: boolean;
  matches(object: KubeObject): boolean;
}

/**
 * Parses `metadata.name=x,metadata.namespace!=y`; a backslash escapes `,`, `=` and itself.
 * @throws StatusError 400, also for fields that the kind does not declare
 */
export const parseFieldSelector = (text: string, definition: ResourceDefinition): FieldSelector => {
  const terms = splitTerms(text).map((term) => parseTerm(term, definition));
  return { empty: terms.length === 0, matches: (object) => terms.every(({ field, value, equal }) => (fieldValue(object, field) === value) === equal) };
};

/** Cuts at commas that no backslash precedes. */
const splitTerms = (text: string): string[] => (text.match(/(?:\\.|[^,\\])+|\\$/gs) ?? []);

const parseTerm = (term: string, definition: ResourceDefinition): Term => {
  const [, field = '', operator, escaped = ''] = /^([^=!\\]*)(!=|==|=)(.*)$/s.exec(term) ?? [];
  if (!operator) throw StatusError.badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  if (!/^(?:[^\\=,]|\\[\\=,])*$/.test(escaped)) throw StatusError.badRequest(`invalid field selector: invalid field value: ${escaped}: unescaped or wrongly escaped character`);
  const supported = ['metadata.name', 'metadata.namespace', ...definition.selectableFields.map((path) => path.slice(1))];
  if (!supported.includes(field)) throw StatusError.badRequest(`field label not supported: ${field}`);
  return { field, value: escaped.replace(/\\(.)/gs, '$1'), equal: operator !== '!=' };
};

const fieldValue = (object: KubeObject, field: string): string => {
  let value: unknown = object;
  for (const part of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
