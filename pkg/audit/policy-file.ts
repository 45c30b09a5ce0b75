import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { isSubdomain } from '../authorization/selectors.ts';
import { apiVersion, levels, stages } from './event.ts';
import type { Policy } from './policy.ts';
import { isObject, type JsonObject } from '../json/object.ts';

/**
 * Reads a policy file as the kube-apiserver takes it, but strictly: a field or value that means nothing would leave something
 * unrecorded that somebody wanted recorded.
 * @throws Error with every fault
 */
export const loadPolicy = async (file: string): Promise<Policy> => {
  try {
    return parsePolicy(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(`audit policy file ${file}: ${(error as Error).message}`, { cause: error });
  }
};

/** @throws Error with every fault, a line each */
export const parsePolicy = (text: string): Policy => {
  const document = parse(text, { uniqueKeys: true, version: '1.1' }) as unknown;
  const faults = new Faults();
  checkPolicy(document, faults);
  if (faults.found.length > 0) throw new Error(faults.found.join('\n'));
  return withoutNulls(document) as Policy;
};

type Check = (value: unknown, path: string, faults: Faults) => void;

class Faults {
  readonly found: string[] = [];

  add(path: string, why: string): void {
    this.found.push(path ? `${path}: ${why}` : why);
  }
}

const checkPolicy = (value: unknown, faults: Faults): void => {
  if (!isObject(value)) return faults.add('', 'the policy must be a mapping');
  if (value.apiVersion !== apiVersion) faults.add('apiVersion', `must be ${apiVersion}`);
  if (value.kind !== 'Policy') faults.add('kind', 'must be Policy');
  checkFields(value, '', faults, policyFields);
  if (!Array.isArray(value.rules) || value.rules.length === 0) faults.add('rules', 'at least one rule is required: without any, nothing would be recorded');
};

const text: Check = (value, path, faults) => {
  if (typeof value !== 'string') faults.add(path, 'must be a text');
};
const flag: Check = (value, path, faults) => {
  if (typeof value !== 'boolean') faults.add(path, 'must be true or false');
};
const mapping: Check = (value, path, faults) => {
  if (!isObject(value)) faults.add(path, 'must be a mapping');
};
const oneOf = (values: readonly string[]): Check => (value, path, faults) => {
  if (!values.includes(value as string)) faults.add(path, `${JSON.stringify(value)} is none of ${values.join(', ')}`);
};
const listOf = (check: Check): Check => (value, path, faults) => {
  if (!Array.isArray(value)) return faults.add(path, 'must be a list');
  for (const [index, item] of value.entries()) check(item, `${path}[${index}]`, faults);
};

const url: Check = (value, path, faults) => {
  if (typeof value !== 'string') return text(value, path, faults);
  if (value === '*') return;
  if (!value.startsWith('/')) faults.add(path, `${JSON.stringify(value)} must begin with a slash`);
  if (value.slice(0, -1).includes('*')) faults.add(path, `${JSON.stringify(value)}: a * may only be the last character`);
};

const group: Check = (value, path, faults) => {
  if (typeof value !== 'string') return text(value, path, faults);
  if (value !== '' && value !== '*' && !isSubdomain(value)) faults.add(path, `${JSON.stringify(value)} is no API group; a version is not part of it`);
};

const groupResources: Check = (value, path, faults) => {
  if (!isObject(value)) return mapping(value, path, faults);
  checkFields(value, path, faults, { group, resources: listOf(text), resourceNames: listOf(text) });
  if (isFilled(value.resourceNames) && !isFilled(value.resources)) faults.add(`${path}.resourceNames`, 'needs at least one of resources');
};

const rule: Check = (value, path, faults) => {
  if (!isObject(value)) return mapping(value, path, faults);
  checkFields(value, path, faults, ruleFields);
  if (value.level === undefined || value.level === null) faults.add(`${path}.level`, `is required: one of ${levels.join(', ')}`);
  if (isFilled(value.nonResourceURLs) && (isFilled(value.resources) || isFilled(value.namespaces))) {
    faults.add(`${path}.nonResourceURLs`, 'a rule cannot be about both resources and non-resource URLs');
  }
};

const ruleFields: Readonly<Record<string, Check>> = {
  level: oneOf(levels),
  users: listOf(text),
  userGroups: listOf(text),
  verbs: listOf(text),
  resources: listOf(groupResources),
  namespaces: listOf(text),
  nonResourceURLs: listOf(url),
  omitStages: listOf(oneOf(stages)),
  omitManagedFields: flag,
};

const policyFields: Readonly<Record<string, Check>> = {
  apiVersion: text,
  kind: text,
  metadata: mapping,
  rules: listOf(rule),
  omitStages: listOf(oneOf(stages)),
  omitManagedFields: flag,
};

/** Null is absence, as everywhere in Kubernetes. */
const checkFields = (value: JsonObject, path: string, faults: Faults, checks: Readonly<Record<string, Check>>): void => {
  for (const [name, field] of Object.entries(value)) {
    const at = path ? `${path}.${name}` : name;
    if (!Object.hasOwn(checks, name)) faults.add(at, `unknown field; known are ${Object.keys(checks).join(', ')}`);
    else if (field !== null) checks[name]!(field, at, faults);
  }
};

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, field]) => (field === null ? [] : [[name, withoutNulls(field)]])));
};
