export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

export interface LabelRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  /** Sorted, without repetition. */
  values: readonly string[];
}

/**
 * Reads a field selector; terms come in the order of their text, as in apimachinery's fields package.
 * @throws Error whose message apimachinery would give
 */
export const parseFieldSelector = (selector: string): FieldRequirement[] =>
  splitTerms(selector)
    .toSorted(byText)
    .filter((term) => term !== '')
    .map((term) => {
      const at = term.search(/!=|=/);
      if (at === -1) throw new Error(`invalid selector: '${selector}'; can't understand '${term}'`);
      const operator = /^(?:!=|==|=)/.exec(term.slice(at))![0];
      return { field: term.slice(0, at), operator: operator === '!=' ? '!=' : '=', value: unescapeValue(term.slice(at + operator.length)) };
    });

/** The value that a field selector demands of a field, if it demands one. */
export const exactMatch = (requirements: readonly FieldRequirement[], field: string): string | undefined =>
  requirements.find((requirement) => requirement.operator === '=' && requirement.field === field)?.value;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Splits at commas that no backslash precedes. */
const splitTerms = (selector: string): string[] => {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < selector.length; at += 1) {
    if (selector[at] === '\\') at += 1;
    else if (selector[at] === ',') {
      terms.push(selector.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, selector.slice(start)];
};

const unescapeValue = (text: string): string => {
  let value = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === ',' || character === '=') throw new Error(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    if (character !== '\\') {
      value += character;
      continue;
    }
    at += 1;
    const escaped = text[at] ?? '';
    if (escaped === '' || !'\\,='.includes(escaped)) throw new Error(`invalid field selector: invalid escape sequence: \\${escaped}`);
    value += escaped;
  }
  return value;
};

/**
 * Reads a label selector; requirements come sorted by key, as in apimachinery's labels package.
 * @throws Error what is wrong with it
 */
export const parseLabelSelector = (selector: string): LabelRequirement[] => {
  const tokens = new Tokens(selector);
  const requirements: LabelRequirement[] = [];
  for (let first = true; first || tokens.peek() !== ''; first = false) {
    if (first && tokens.peek() === '') return [];
    const text = tokens.peek();
    if (text !== '!' && !isIdentifier(text)) {
      throw new Error(first ? `found '${text}', expected: !, identifier, or 'end of string'` : `found '${text}', expected: identifier after ','`);
    }
    requirements.push(requirementOf(tokens));
    const separator = tokens.take();
    if (separator === '') break;
    if (separator !== ',') throw new Error(`found '${separator}', expected: ',' or 'end of string'`);
    if (tokens.peek() === '') throw new Error(`found '', expected: identifier after ','`);
  }
  return requirements.toSorted((a, b) => byText(a.key, b.key));
};

/** The selector's symbols and words; the empty text ends it. */
class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(selector: string) {
    this.#tokens = selector.match(/!=|==|[=!(),<>]|[^=!(),<> \t\r\n]+/g) ?? [];
  }

  peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  take(): string {
    const token = this.peek();
    this.#at += 1;
    return token;
  }
}

const isIdentifier = (token: string): boolean => token !== '' && !/^[=!(),<>]/.test(token);

const requirementOf = (tokens: Tokens): LabelRequirement => {
  const absent = tokens.peek() === '!';
  if (absent) tokens.take();
  const key = tokens.take();
  if (!isIdentifier(key)) throw faulty(`found '${key}', expected: identifier`);
  if (!isLabelKey(key)) throw faulty(`<nil>: Invalid value: "${key}": not a qualified name`);
  if (absent) return { key, operator: 'DoesNotExist', values: [] };
  if (tokens.peek() === '' || tokens.peek() === ',') return { key, operator: 'Exists', values: [] };
  const sign = tokens.take();
  const operator = operators.get(sign);
  if (!operator) throw faulty(`found '${sign}', expected: in, notin, =, ==, !=, gt, lt`);
  const values = [...new Set(sign === 'in' || sign === 'notin' ? valuesOf(tokens) : [exactValue(tokens)])].toSorted(byText);
  for (const value of values) {
    if (operator === 'Gt' || operator === 'Lt') {
      if (!/^[+-]?\d+$/.test(value)) throw faulty(`values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    if (!isLabelValue(value)) throw faulty(`values[0][${key}]: Invalid value: "${value}": ${labelValueRule}`);
  }
  return { key, operator, values };
};

const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const operators = new Map<string, LabelRequirement['operator']>([
  ['in', 'In'],
  ['=', 'In'],
  ['==', 'In'],
  ['notin', 'NotIn'],
  ['!=', 'NotIn'],
  ['>', 'Gt'],
  ['<', 'Lt'],
]);

const exactValue = (tokens: Tokens): string => {
  if (tokens.peek() === '' || tokens.peek() === ',') return '';
  const value = tokens.take();
  if (!isIdentifier(value)) throw faulty(`found '${value}', expected: identifier`);
  return value;
};

const valuesOf = (tokens: Tokens): string[] => {
  const open = tokens.take();
  if (open !== '(') throw faulty(`found '${open}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    const value = isIdentifier(tokens.peek()) ? tokens.take() : ''; // nothing between commas is the empty value
    values.push(value);
    const next = tokens.take();
    if (next === ')') return values;
    if (next !== ',') throw faulty(`found '${next}', expected: ',' or ')'`);
  }
};

const faulty = (fault: string): Error => new Error(`unable to parse requirement: ${fault}`);

const isLabelValue = (value: string): boolean => value.length <= 63 && /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(value);

const isLabelKey = (key: string): boolean => {
  const [name = '', prefix, ...rest] = key.split('/').toReversed();
  if (rest.length > 0 || name === '' || !isLabelValue(name)) return false;
  return prefix === undefined || isSubdomain(prefix);
};

/** RFC 1123 subdomain in lower case, at most 253 characters. */
export const isSubdomain = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(name);
