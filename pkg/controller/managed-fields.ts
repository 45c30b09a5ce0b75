import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { isObject, type JsonObject } from '../json/object.ts';

/**
 * Whether applying `desired` as `manager` would change `live`: true where a desired field has another value, is not
 * ours yet, or where we own a field that is no longer desired. Defaults that the server added do not count.
 * `desired` holds what would be sent; type, name and uid tell objects apart and are not compared.
 */
export const applyWouldChange = (desired: KubeObject, live: KubeObject, manager: string, subresource = ''): boolean => {
  const [text, part] = [JSON.stringify(desired), `${manager}/${subresource}`];
  const before = agreed.get(live);
  if (before?.get(part) === text) return false;
  const owned = ownedFields(live, desired.apiVersion, manager, subresource);
  if (!owned || !agrees(comparable(desired), comparable(live), owned)) return true;
  if (before) before.set(part, text);
  else agreed.set(live, new Map([[part, text]]));
  return false;
};

/** What agreed with what, last: most objects are looked at again and again while neither changes. Objects of caches never do. */
const agreed = new WeakMap<KubeObject, Map<string, string>>();

/** The fields that `manager` owns by apply: FieldsV1 of the entry for this apiVersion and subresource. */
export const ownedFields = ({ metadata }: KubeObject, apiVersion: string, manager: string, subresource = ''): JsonObject | undefined =>
  metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource && (!entry.apiVersion || entry.apiVersion === apiVersion),
  )?.fieldsV1;

const comparable = ({ apiVersion: _apiVersion, kind: _kind, metadata, ...rest }: KubeObject): JsonObject => {
  const { name: _name, namespace: _namespace, uid: _uid, resourceVersion: _version, ...kept } = metadata;
  return Object.keys(kept).length > 0 ? { ...rest, metadata: kept } : rest;
};

/** FieldsV1 (structured-merge-diff): `f:` a field, `k:` an item by its keys, `v:` an item of a set, `.` the thing itself. */
const agrees = (desired: unknown, live: unknown, owned: unknown): boolean => {
  if (!isObject(owned)) return false;
  const marks = Object.keys(owned).filter((mark) => mark !== '.');
  // Owned as a whole: a scalar, or an atomic list or map.
  if (marks.length === 0) return holds(desired, live);
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || desired.length !== marks.length) return false;
    const owners = marks.map((mark): Mark => ({ sort: mark.slice(0, 2), value: JSON.parse(mark.slice(2)) as unknown, owned: owned[mark] }));
    return desired.every((item) => itemAgrees(item, live, owners));
  }
  if (!isObject(desired) || !isObject(live)) return false;
  const fields = Object.keys(desired);
  return fields.length === marks.length && fields.every((field) => agrees(desired[field], live[field], owned[`f:${field}`]));
};

/** An item of a list, as the owner of fields in it names it. */
interface Mark {
  sort: string;
  /** The keys of a `k:` with their values, or a `v:` itself. */
  value: unknown;
  owned: unknown;
}

const itemAgrees = (item: unknown, live: unknown[], marks: readonly Mark[]): boolean =>
  marks.some(({ sort, value, owned }) => {
    if (sort === 'v:') return isSame(value, item) && live.some((candidate) => isSame(candidate, value));
    // A key that we leave to its default is in the mark but not in the item.
    if (sort !== 'k:' || !isObject(item) || !isObject(value)) return false;
    const keys = Object.entries(value);
    if (!keys.every(([key, part]) => item[key] === undefined || isSame(item[key], part))) return false;
    const counterpart = live.find((candidate) => isObject(candidate) && keys.every(([key, part]) => isSame(candidate[key], part)));
    return counterpart !== undefined && agrees(item, counterpart, owned);
  });

const isSame = (a: unknown, b: unknown): boolean => a === b || isDeepStrictEqual(a, b);

/** Whether everything in `desired` stands in `live`; maps may hold more (defaults), lists may not. */
export const holds = (desired: unknown, live: unknown): boolean => {
  if (Array.isArray(desired)) return Array.isArray(live) && live.length === desired.length && desired.every((item, index) => holds(item, live[index]));
  if (isObject(desired)) return isObject(live) && Object.keys(desired).every((field) => holds(desired[field], live[field]));
  return desired === live;
};
