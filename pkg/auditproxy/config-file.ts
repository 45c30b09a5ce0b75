import { parseDocument } from 'yaml';

/** What a field of the config file may hold. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'list';

/** Fields by path, as `backend.tls.caFile`. */
export type Fields = ReadonlyMap<string, FieldKind>;

/**
 * Reads a config file (YAML) strictly: a field that means nothing would leave something undone that somebody wanted done.
 * @returns values by path, as flags take them; lists joined by commas
 * @throws Error with every fault, a line each
 */
export const parseConfig = (text: string, fields: Fields): Map<string, string> => {
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) throw new Error(document.errors.map(({ message }) => message.split('\n', 1)[0]!).join('\n'));
  const values = new Map<string, string>();
  const faults: string[] = [];
  walk(document.toJS({ maxAliasCount: 0 }) as unknown, '', fields, values, faults);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return values;
};

const walk = (value: unknown, path: string, fields: Fields, values: Map<string, string>, faults: string[]): void => {
  const kind = fields.get(path);
  if (kind) {
    const text = textOf(value, kind);
    if (text === undefined) faults.push(`${path}: ${JSON.stringify(value)} is not ${wanted[kind]}`);
    else values.set(path, text);
    return;
  }
  if (path === '' && value === null) return; // an empty file
  const known = below(path, fields);
  if (known.length === 0) return void faults.push(`${path}: unknown field; known in ${parentOf(path) || 'the file'} are ${below(parentOf(path), fields).join(', ')}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return void faults.push(`${path || 'the file'}: must be a mapping of ${known.join(', ')}`);
  for (const [name, inner] of Object.entries(value)) {
    if (name.includes('.') || name === '') faults.push(`${path ? `${path}: ` : ''}unknown field ${JSON.stringify(name)}: fields are nested, not joined by dots`);
    else walk(inner, path ? `${path}.${name}` : name, fields, values, faults);
  }
};

const wanted: Record<FieldKind, string> = { text: 'a text', number: 'a whole number', boolean: 'true or false', list: 'a list of texts without commas' };

const textOf = (value: unknown, kind: FieldKind): string | undefined => {
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return Number.isInteger(value) && (value as number) >= 0 ? String(value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '' && !item.includes(',')) ? value.join(',') : undefined;
  }
};

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('.'), 0));

/** Names of the fields right below a path. */
const below = (path: string, fields: Fields): string[] => {
  const prefix = path ? `${path}.` : '';
  return [...new Set([...fields.keys()].filter((field) => field.startsWith(prefix)).map((field) => field.slice(prefix.length).split('.')[0]!))];
};
