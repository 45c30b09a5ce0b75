import { quote, quoteByte } from './quote.ts';

/** Objects and lists may lie this deep within each other. Deeper ones would end our own recursion; the kube-apiserver allows 10,000. */
export const maxDepth = 1000;

/** Malformed JSON, in the words of Kubernetes' own decoder. */
export class JsonSyntaxError extends Error {}

interface Container {
  /** Keys seen so far; absent for a list. */
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

const [tab, newline, carriageReturn, space, doubleQuote, backslash] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x5c];
const isSpace = (c: number | undefined): boolean => c === space || c === newline || c === tab || c === carriageReturn;
const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 0x30 && c <= 0x39;
const isHex = (c: number | undefined): boolean => isDigit(c) || (c !== undefined && ((c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)));

const fail = (byte: number | undefined, context: string): never => {
  throw new JsonSyntaxError(byte === undefined ? 'unexpected end of JSON input' : `invalid character ${quoteByte(byte)} ${context}`);
};

const keyPath = (stack: readonly Container[], key: string): string => {
  let path = '';
  for (const { keys, key: name, index } of stack.slice(0, -1)) path += keys ? `${path === '' ? '' : '.'}${name}` : `[${index}]`;
  return path === '' ? key : `${path}.${key}`;
};

/** Past a string that starts at `at` (its opening quote); the offset after its closing quote. */
const skipString = (bytes: Uint8Array, start: number): number => {
  let at = start + 1;
  for (;;) {
    const c = bytes[at];
    if (c === doubleQuote) return at + 1;
    if (c === undefined || c < space) return fail(c, 'in string literal');
    at += 1;
    if (c !== backslash) continue;
    const escaped = bytes[at];
    if (escaped === 0x75) {
      for (let digit = 1; digit <= 4; digit++) if (!isHex(bytes[at + digit])) return fail(bytes[at + digit], 'in \\u hexadecimal character escape');
      at += 5;
    } else if (escaped !== undefined && '"\\/bfnrt'.includes(String.fromCharCode(escaped))) at += 1;
    else return fail(escaped, 'in string escape code');
  }
};

const skipNumber = (bytes: Uint8Array, start: number): number => {
  let at = start;
  const digits = (context: string): void => {
    if (!isDigit(bytes[at])) fail(bytes[at], context);
    while (isDigit(bytes[at])) at += 1;
  };
  if (bytes[at] === 0x2d) at += 1;
  if (bytes[at] === 0x30) at += 1;
  else digits('in numeric literal');
  if (bytes[at] === 0x2e) {
    at += 1;
    digits('after decimal point in numeric literal');
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at += 1;
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at += 1;
    digits('in exponent of numeric literal');
  }
  return at;
};

const skipWord = (bytes: Uint8Array, start: number, word: string): number => {
  for (let i = 1; i < word.length; i++) {
    if (bytes[start + i] !== word.charCodeAt(i)) return fail(bytes[start + i], `in literal ${word} (expecting '${word[i]}')`);
  }
  return start + word.length;
};

const textOf = (bytes: Buffer, from: number, to: number): string => {
  const raw = bytes.toString('utf8', from, to);
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
};

export interface JsonScan {
  /** `duplicate field "spec.host"` and the like, in the order of the second occurrence, each once, at most 100. */
  duplicates: string[];
  /** A number literal that no double can hold, if there is one. */
  overflow: string | undefined;
}

/**
 * Checks that bytes are one JSON text, without recursion, and finds the keys that occur twice in one object.
 * @throws JsonSyntaxError with the message that Kubernetes gives for the same bytes
 */
export const scanJson = (bytes: Buffer): JsonScan => {
  const duplicates = new Set<string>();
  const stack: Container[] = [];
  let overflow: string | undefined;
  let at = 0;

  const skipSpace = (): number | undefined => {
    while (isSpace(bytes[at])) at += 1;
    return bytes[at];
  };
  const readKey = (container: Container, keys: Set<string>): void => {
    if (skipSpace() !== doubleQuote) fail(bytes[at], 'looking for beginning of object key string');
    const start = at;
    at = skipString(bytes, at);
    container.key = textOf(bytes, start, at);
    if (skipSpace() !== 0x3a) fail(bytes[at], 'after object key');
    at += 1;
    if (keys.has(container.key) && duplicates.size < 100) duplicates.add(`duplicate field ${quote(keyPath(stack, container.key))}`);
    keys.add(container.key);
  };
  /** Opens a container; true where it holds something. */
  const open = (byte: number, keys: Set<string> | undefined): boolean => {
    if (stack.length >= maxDepth) fail(byte, 'exceeded max depth');
    at += 1;
    const container: Container = { keys, key: '', index: 0 };
    if (skipSpace() === (keys ? 0x7d : 0x5d)) {
      at += 1;
      return false;
    }
    stack.push(container);
    if (keys) readKey(container, keys);
    return true;
  };

  for (;;) {
    const c = skipSpace();
    if (c === 0x7b) {
      if (open(c, new Set())) continue;
    } else if (c === 0x5b) {
      if (open(c, undefined)) continue;
    } else if (c === doubleQuote) at = skipString(bytes, at);
    else if (c === 0x2d || isDigit(c)) {
      const start = at;
      at = skipNumber(bytes, at);
      const literal = bytes.toString('latin1', start, at);
      if (!Number.isFinite(Number(literal))) overflow ??= literal;
    } else if (c === 0x74) at = skipWord(bytes, at, 'true');
    else if (c === 0x66) at = skipWord(bytes, at, 'false');
    else if (c === 0x6e) at = skipWord(bytes, at, 'null');
    else fail(c, 'looking for beginning of value');

    // A value has ended: close what it ends, then go on to the next one.
    for (;;) {
      const next = skipSpace();
      const container = stack.at(-1);
      if (!container) {
        if (next !== undefined) fail(next, 'after top-level value');
        return { duplicates: [...duplicates], overflow };
      }
      if (next === 0x2c) {
        at += 1;
        if (container.keys) readKey(container, container.keys);
        else container.index += 1;
        break;
      }
      if (next !== (container.keys ? 0x7d : 0x5d)) fail(next, container.keys ? 'after object key:value pair' : 'after array element');
      at += 1;
      stack.pop();
    }
  }
};
