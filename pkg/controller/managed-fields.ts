import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/meta/v1/types.ts';

type Fields = Record<string, unknown>;

/**
 * Whether applying `desired` as `manager` would change `live`: true where a desired field has another value, is not
 * ours yet, or where we own a field that is no longer desired. Defaults that the server added do not count.
 * `desired` holds what would be sent; type, name and uid tell objects apart and are not compared.
 */
export const applyWouldChange = (desired: KubeObject, live: KubeObject, manager: string, subresource = ''): boolean => {
  const owned = ownedFields(live, desired.apiVersion, manager, subresource);
  return !owned || !agrees(comparable(desired), comparable(live), owned);
};

/** The fields that `manager` owns by apply: FieldsV1 of the entry for this apiVersion and subresource. */
export const ownedFields = ({ metadata }: KubeObject, apiVersion: string, manager: string, subresource = ''): Fields | undefined =>
  metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource && (!entry.apiVersion || entry.apiVersion === apiVersion),
  )?.fieldsV1;

const comparable = ({ apiVersion: _apiVersion, kind: _kind, metadata, ...rest }: KubeObject): Fields => {
  const { name: _name, namespace: _namespace, uid: _uid, resourceVersion: _version, ...kept } = metadata;
  return Object.keys(kept).length > 0 ? { ...rest, metadata: kept } : rest;
};

/** FieldsV1 (structured-merge-diff): `f:` a field, `k:` an item by its keys, `v:` an item of a set, `.` the thing itself. */
const agrees = (desired: unknown, live: unknown, owned: unknown): boolean => {
  if (!isObject(owned)) return false;
  const marks = Object.keys(owned).filter((mark) => mark !== '.');
  // Owned as a whole: a scalar, or an atomic list or map.
  if (marks.length === 0) return holds(desired, live);
  if (Array.isArray(desired)) return Array.isArray(live) && desired.length === marks.length && desired.every((item) => itemAgrees(item, live, owned, marks));
  if (!isObject(desired) || !isObject(live)) return false;
  const fields = Object.keys(desired);
  return fields.length === marks.length && fields.every((field) => agrees(desired[field], live[field], owned[`f:${field}`]));
};

const itemAgrees = (item: unknown, live: unknown[], owned: Fields, marks: string[]): boolean =>
  marks.some((mark) => {
    const value = JSON.parse(mark.slice(2)) as unknown;
    if (mark.startsWith('v:')) return isDeepStrictEqual(value, item) && live.some((candidate) => isDeepStrictEqual(candidate, value));
    // A key that we leave to its default is in the mark but not in the item.
    if (!mark.startsWith('k:') || !isObject(item) || !isObject(value)) return false;
    const keys = Object.entries(value);
    if (!keys.every(([key, part]) => item[key] === undefined || isDeepStrictEqual(item[key], part))) return false;
    const counterpart = live.find((candidate) => isObject(candidate) && keys.every(([key, part]) => isDeepStrictEqual(candidate[key], part)));
    return counterpart !== undefined && agrees(item, counterpart, owned[mark]);
  });

/** Whether everything in `desired` stands in `live`; maps may hold more (defaults), lists may not. */
export const holds = (desired: unknown, live: unknown): boolean => {
  if (Array.isArray(desired)) return Array.isArray(live) && live.length === desired.length && desired.every((item, index) => holds(item, live[index]));
  if (isObject(desired)) return isObject(live) && Object.keys(desired).every((field) => holds(desired[field], live[field]));
  return desired === live;
};

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
