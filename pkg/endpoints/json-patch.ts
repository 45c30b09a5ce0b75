import { isDeepStrictEqual } from 'node:util';
import { isObject, own, type JsonObject } from '../json/object.ts';

export interface PatchOperation {
  op: string;
  path?: string;
  from?: string;
  value?: unknown;
}

/** A patch that cannot be applied to this document. */
export class PatchError extends Error {}

type Container = JsonObject | unknown[];

/**
 * JSON patch (RFC 6902) as the kube-apiserver reads it: an index below zero counts from the end, a field that is missing is null
 * to replace, copy and test, a value that is missing is null to add and replace. Changes the document, and gives what it has become.
 * @throws PatchError
 */
export const applyJsonPatch = (document: JsonObject, operations: readonly PatchOperation[]): unknown => {
  let result: Container = document;
  for (const operation of operations) {
    if (operation.op === 'replace' && operation.path === '') result = whole(operation.value);
    else apply(result, operation);
  }
  return result;
};

const whole = (value: unknown): Container => {
  if (isObject(value) || Array.isArray(value)) return structuredClone(value);
  throw new PatchError('only an object or a list can replace the document');
};

const apply = (document: Container, { op, path, from, value }: PatchOperation): void => {
  switch (op) {
    case 'add':
      return add(find(document, path), value ?? null);
    case 'replace':
      return replace(find(document, path), value ?? null);
    case 'remove':
      return remove(find(document, path));
    case 'move': {
      const source = find(document, from);
      const moved = read(source);
      remove(source);
      return add(find(document, path), moved);
    }
    case 'copy':
      return add(find(document, path), structuredClone(read(find(document, from))));
    case 'test':
      return test(path === '' ? document : read(find(document, path)), value);
    default:
      throw new PatchError(`unexpected kind: ${op}`);
  }
};

interface Place {
  container: Container;
  key: string;
}

/** The container that holds what a pointer (RFC 6901) points at, and the key in it. */
const find = (document: Container, pointer: string | undefined): Place => {
  const [, ...keys] = (pointer ?? '').split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = keys.pop();
  if (key === undefined) throw new PatchError(`doc is missing path: "${pointer}"`);
  let container = document;
  for (const step of keys) {
    const next = read({ container, key: step });
    if (!isObject(next) && !Array.isArray(next)) throw new PatchError(`doc is missing path: "${pointer}"`);
    container = next;
  }
  return { container, key };
};

/** What is there; null for a missing field. */
const read = ({ container, key }: Place): unknown => (Array.isArray(container) ? container[index(key, container.length)] : own(container, key)) ?? null;

const add = ({ container, key }: Place, value: unknown): void => {
  if (Array.isArray(container)) container.splice(key === '-' ? container.length : index(key, container.length + 1), 0, value);
  else set(container, key, value);
};

const replace = ({ container, key }: Place, value: unknown): void => {
  if (Array.isArray(container)) container[index(key, container.length)] = value;
  else set(container, key, value);
};

const remove = ({ container, key }: Place): void => {
  if (Array.isArray(container)) container.splice(index(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PatchError(`Unable to remove nonexistent key: ${key}`);
};

const test = (found: unknown, value: unknown): void => {
  if (found === null ? (value ?? null) !== null : !isDeepStrictEqual(found, value)) throw new PatchError('testing a value failed');
};

/** Also for a key named `__proto__`. */
const set = (object: JsonObject, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
};

/** An index below `length`; one below zero counts from the end. */
const index = (key: string, length: number): number => {
  const number = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN;
  const at = number < 0 ? number + length : number;
  if (!(at >= 0 && at < length)) throw new PatchError(`Unable to access invalid index: ${key}`);
  return at;
};
