import { StatusError } from '../kube/status-error.ts';

export type Labels = Readonly<Record<string, string>> | undefined;

interface Requirement {
  key: string;
  operator: 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  values: ReadonlySet<string>;
}

/** A parsed label selector (labels.Parse of apimachinery): all requirements must hold. */
export interface LabelSelector {
  readonly empty: boolean;
  matches(labels: Labels): boolean;
}

const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const token = /\s*(?:(==|!=|=|!|\(|\)|,|>|<)|([^\s=!(),<>]+))\s*/y;

/**
 * Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.
 * @throws StatusError 400
 */
export const parseLabelSelector = (text: string): LabelSelector => {
  const requirements = new Parser(text).requirements();
  return { empty: requirements.length === 0, matches: (labels) => requirements.every((requirement) => holds(requirement, labels)) };
};

const holds = ({ key, operator, values }: Requirement, labels: Labels): boolean => {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
      return value !== undefined && values.has(value);
    case 'notin':
      return value === undefined || !values.has(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default: {
      const [bound] = values;
      if (value === undefined || !/^[-+]?\d+$/.test(value)) return false;
      return operator === '>' ? BigInt(value) > BigInt(bound!) : BigInt(value) < BigInt(bound!);
    }
  }
};

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    if (this.#text.trim() === '') return found;
    for (;;) {
      found.push(this.#requirement());
      const next = this.#next();
      if (next === undefined) return found;
      if (next !== ',') throw this.#error(`found '${next}', expected: ',' or 'end of string'`);
    }
  }

  #requirement(): Requirement {
    const first = this.#next();
    if (first === '!') return this.#make(this.#word(), '!', []);
    if (first === undefined || isSymbol(first)) throw this.#error(`found '${first ?? ''}', expected: !, identifier, or 'end of string'`);
    const operator = this.#peek();
    switch (operator) {
      case undefined:
      case ',':
        return this.#make(first, 'exists', []);
      case '=':
      case '==':
        this.#next();
        return this.#make(first, 'in', [this.#value()]);
      case '!=':
        this.#next();
        return this.#make(first, 'notin', [this.#value()]);
      case '>':
      case '<':
        this.#next();
        return this.#make(first, operator, [this.#value()]);
      case 'in':
      case 'notin':
        this.#next();
        return this.#make(first, operator, this.#set());
      default:
        throw this.#error(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #set(): string[] {
    const open = this.#next();
    if (open !== '(') throw this.#error(`found '${open ?? ''}', expected: '('`);
    const values: string[] = [];
    for (;;) {
      values.push(this.#value());
      const next = this.#next();
      if (next === ')') return values;
      if (next !== ',') throw this.#error(`found '${next ?? ''}', expected: ',' or ')'`);
    }
  }

  /** A value may be empty, as in `a=` or `a in (,b)`. */
  #value(): string {
    const next = this.#peek();
    if (next === undefined || next === ',' || next === ')') return '';
    return this.#word();
  }

  #word(): string {
    const next = this.#next();
    if (next === undefined || isSymbol(next)) throw this.#error(`found '${next ?? ''}', expected: identifier`);
    return next;
  }

  #make(key: string, operator: Requirement['operator'], values: string[]): Requirement {
    const slash = key.lastIndexOf('/');
    const [prefix, name] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)];
    if (name.length > 63 || !namePattern.test(name) || (prefix !== undefined && (prefix.length > 253 || !prefixPattern.test(prefix)))) {
      throw this.#error(`key: Invalid value: "${key}": not a qualified name`);
    }
    if (operator === '>' || operator === '<') {
      if (!/^[-+]?\d+$/.test(values[0]!)) throw this.#error(`values[0]: Invalid value: "${values[0]}": for 'Gt', 'Lt' operators, the value must be an integer`);
    } else {
      const bad = values.find((value) => value !== '' && (value.length > 63 || !namePattern.test(value)));
      if (bad !== undefined) throw this.#error(`values[0][${key}]: Invalid value: "${bad}": not a valid label value`);
    }
    return { key, operator, values: new Set(values) };
  }

  #peek(): string | undefined {
    const at = this.#at;
    const next = this.#next();
    this.#at = at;
    return next;
  }

  #next(): string | undefined {
    if (this.#at >= this.#text.length) return undefined;
    token.lastIndex = this.#at;
    const match = token.exec(this.#text);
    if (!match) throw this.#error(`unexpected character at ${this.#at}`);
    this.#at = token.lastIndex;
    return match[1] ?? match[2];
  }

  #error(why: string): StatusError {
    return StatusError.badRequest(`unable to parse requirement: ${why}`);
  }
}

const isSymbol = (text: string): boolean => /^(==|!=|=|!|\(|\)|,|>|<)$/.test(text);
