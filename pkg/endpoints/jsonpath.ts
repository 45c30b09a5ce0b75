import { isObject, own } from '../json/object.ts';

/** Takes the values found so far to the values found next. Throws EvaluationError where Kubernetes' evaluation fails. */
type Step = (values: readonly unknown[]) => unknown[];

class EvaluationError extends Error {}

/**
 * Compiles a path of the apiextensions JSONPath dialect (`.spec.list[0].a`, `['a.b']`, `[*]`, `[1:3]`, `[?(@.type=="Ready")]`,
 * `..name`, unions) once.
 * @returns a function that gives every value found, in order; none where the path leads nowhere or does not fit the object
 * @throws Error where the path cannot be parsed
 */
export const compileJsonPath = (path: string): ((object: unknown) => unknown[]) => {
  const step = parseSteps(new Cursor(path));
  return (object) => {
    try {
      return step([object]);
    } catch (error) {
      if (error instanceof EvaluationError) return [];
      throw error;
    }
  };
};

class Cursor {
  at = 0;
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  get rest(): string {
    return this.text.slice(this.at);
  }
  /** Takes what matches at this place; the pattern must be sticky. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }
}

const all = (steps: readonly Step[]): Step => (values) => steps.reduce<unknown[]>((found, step) => step(found), [...values]);

const parseSteps = (cursor: Cursor): Step => {
  const steps: Step[] = [];
  while (cursor.at < cursor.text.length) steps.push(parseStep(cursor));
  return all(steps);
};

const parseStep = (cursor: Cursor): Step => {
  if (cursor.take(/[ @$]/y)) return (values) => [...values];
  if (cursor.take(/\.\./y)) {
    const name = cursor.take(fieldName)?.[0];
    return name ? all([descend, fieldStep(name)]) : descend;
  }
  if (cursor.take(/\./y)) return fieldStep(cursor.take(fieldName)?.[0] ?? '');
  const filter = cursor.take(/\[\?\(((?:[^"')]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')*)\)\]/y);
  if (filter) return filterStep(filter[1] ?? '');
  const bracket = cursor.take(/\[([^\]\n]*)\]/y);
  if (bracket) return bracketStep(bracket[1] ?? '');
  const text = cursor.take(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/y);
  if (text) return literal(text[0].slice(1, -1).replaceAll(/\\(.)/g, '$1'));
  const number = cursor.take(/[+-]?[\d.]+/y);
  if (number && Number.isFinite(Number(number[0]))) return literal(Number(number[0]));
  const word = cursor.take(/[\p{L}_][^\s.,[\]$@{}]*/uy);
  if (word) return word[0] === 'true' || word[0] === 'false' ? literal(word[0] === 'true') : unknownWord;
  throw new Error(`unrecognized JSONPath at ${JSON.stringify(cursor.rest)}`);
};

const fieldName = /(?:\\.|[^\s.,[\]$@{}\\])*/y;

/** Parsed and refused only when it is evaluated, as Kubernetes does with words that mean nothing. */
const unknownWord: Step = () => {
  throw new EvaluationError('unrecognized identifier');
};

const literal = (value: unknown): Step => (values) => values.map(() => value);

const fieldStep = (escaped: string): Step => {
  if (escaped === '*') return wildcard;
  const name = escaped.replaceAll('\\', '');
  return (values) => {
    const found: unknown[] = [];
    for (const value of values) if (isObject(value) && Object.hasOwn(value, name)) found.push(own(value, name));
    return found;
  };
};

const childrenOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
};

const wildcard: Step = (values) => values.flatMap(childrenOf);

const descend: Step = (values) =>
  values.flatMap((value) => {
    const children = childrenOf(value);
    return children.length === 0 ? [] : [value, ...descend(children)];
  });

const bracketStep = (text: string): Step => {
  const parts = text.split(',');
  if (parts.length > 1) {
    const union = parts.map((part) => bracketStep(part.trim()));
    return (values) => union.flatMap((step) => step(values));
  }
  const key = /^'([^']*)'$/.exec(text);
  if (key) return parseSteps(new Cursor(`.${key[1]}`));
  const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text === '*' ? ':' : text);
  if (!slice || text === '-') throw new Error(`invalid array index ${text}`);
  const [from, to, step] = slice.slice(1).map((bound) => (bound === undefined ? undefined : bound.replace(':', '')));
  return sliceStep(numberOr(from, undefined), to === undefined ? 'one' : numberOr(to, undefined), numberOr(step, undefined) ?? 1);
};

const numberOr = (text: string | undefined, other: number | undefined): number | undefined => (text ? Number(text) : other);

/** `[from:to:step]`; `to` is `'one'` for a plain index. */
const sliceStep = (from: number | undefined, to: number | 'one' | undefined, step: number): Step => (values) => {
  const found: unknown[] = [];
  for (const value of values) {
    if (value === null) continue;
    if (!Array.isArray(value)) throw new EvaluationError('not a list');
    const start = (from ?? 0) < 0 ? (from ?? 0) + value.length : (from ?? 0);
    const end = to === undefined ? value.length : to === 'one' ? start + 1 : to < 0 ? to + value.length : to;
    if (start === end) return found;
    if (start < 0 || start >= value.length || end < 0 || end > value.length || start > end || step <= 0) throw new EvaluationError('out of bounds');
    for (let index = start; index < end; index += step) found.push(value[index]);
  }
  return found;
};

const filterStep = (expression: string): Step => {
  const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(expression);
  const left = parseSteps(new Cursor(comparison?.[1] ?? expression));
  const right = comparison ? parseSteps(new Cursor(comparison[3] ?? '')) : undefined;
  const operator = comparison?.[2] ?? '';
  if (right && !['<', '>', '==', '!=', '<=', '>='].includes(operator)) throw new Error(`unrecognized filter operator ${operator}`);
  const passes = (item: unknown): boolean => {
    const lefts = left([item]);
    if (!right) return lefts.length > 0;
    const rights = lefts.length === 0 ? [] : right([item]);
    if (lefts.length > 1 || rights.length > 1) throw new EvaluationError('can only compare one element at a time');
    return rights.length === 1 && compare(lefts[0], operator, rights[0]);
  };
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) throw new EvaluationError('not a list');
      return value.filter(passes);
    });
};

const kindOf = (value: unknown): string => (typeof value === 'number' ? (Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'float') : typeof value);

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  const kind = kindOf(left);
  if (kind === 'object' || kind !== kindOf(right)) throw new EvaluationError('incompatible types for comparison');
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (kind === 'boolean') throw new EvaluationError('invalid type for comparison');
  const [a, b] = [left as string | number, right as string | number];
  const less = a < b;
  if (operator === '<') return less;
  return operator === '>=' ? !less : operator === '<=' ? less || a === b : !less && a !== b;
};
