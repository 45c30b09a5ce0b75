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
  /** The value that a field must equal, where the selector says so. */
  required(field: string): string | undefined;
  matches(object: KubeObject): boolean;
}

/**
 * Parses `metadata.name=x,metadata.namespace!=y`; a backslash escapes `,`, `=` and itself.
 * @throws StatusError 400, also for fields that the kind does not declare
 */
export const parseFieldSelector = (text: string, definition: ResourceDefinition): FieldSelector => {
  const terms = splitTerms(text).map((term) => parseTerm(term, definition));
  return {
    empty: terms.length === 0,
    required: (field) => terms.find((term) => term.equal && term.field === field)?.value,
    matches: (object) => terms.every(({ field, value, equal }) => (fieldValue(object, field) === value) === equal),
  };
};

const splitTerms = (text: string): string[] => text.split(/(?<!\\)(?:\\\\)*,/).filter((term) => term !== '');

const parseTerm = (term: string, definition: ResourceDefinition): Term => {
  const match = /^((?:[^\\=!]|\\.)*)(!=|==|=)(.*)$/s.exec(term);
  if (!match) throw StatusError.badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, escaped = ''] = match;
  if (/(?<!\\)(?:\\\\)*=/.test(escaped)) throw StatusError.badRequest(`invalid field selector: invalid field value: ${escaped}: unescaped character in field selector`);
  const supported = ['metadata.name', 'metadata.namespace', ...definition.selectableFields.map((path) => path.slice(1))];
  if (!supported.includes(field)) throw StatusError.badRequest(`field label not supported: ${field}`);
  return { field, value: escaped.replace(/\\(.)/gs, '$1'), equal: operator !== '!=' };
};

const fieldValue = (object: KubeObject, field: string): string => {
  let value: unknown = object;
  for (const part of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
