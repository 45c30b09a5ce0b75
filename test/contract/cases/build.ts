import type { Request, Step } from '../case.ts';

export const json = 'application/json';
export const yaml = 'application/yaml';
export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const applyPatch = 'application/apply-patch+yaml';

/** An object of the case's kind and name; a gateway by its spec. */
export const object = (part: object = {}, metadata: object = {}): object => ({
  apiVersion: '<apiVersion>',
  kind: '<kind>',
  metadata: { name: '<name>', ...metadata },
  spec: { apex: 'example.org' },
  ...part,
});

/** An object of a kind whose spec may be empty. */
export const bare = (part: object = {}, metadata: object = {}): object => object({ spec: {}, ...part }, metadata);

export const create = (body: unknown = object(), query = ''): Request => ({ method: 'POST', path: `<all>${query}`, body });
export const createNamed = (suffix: string, metadata: object = {}, part: object = {}): Request => create(object(part, { name: `<name>${suffix}`, ...metadata }));
export const get = (path = '<one>'): Request => ({ path });
export const update = (body: unknown, query = ''): Request => ({ method: 'PUT', path: `<one>${query}`, body });
export const patch = (type: string, body: unknown, query = ''): Request => ({ method: 'PATCH', path: `<one>${query}`, type, body });
export const merge = (body: unknown, query = ''): Request => patch(mergePatch, body, query);
export const operations = (body: unknown, query = ''): Request => patch(jsonPatch, body, query);
export const apply = (body: unknown, query = '?fieldManager=one'): Request => patch(applyPatch, body, query);
export const remove = (query = '', body?: unknown): Request => ({ method: 'DELETE', path: `<one>${query}`, ...(body !== undefined && { body }) });

/** Objects `<name>a`, `<name>b`, … in order, the odd ones with the label `odd=yes`. */
export const several = (count: number): Request[] =>
  Array.from({ length: count }, (_, index) => createNamed(String.fromCodePoint(97 + index), index % 2 === 1 ? { labels: { odd: 'yes' } } : {}));

/** A field of the first step's answer. */
export const first = (path: string): string => `<0.${path}>`;
export const versionOf = (step: number): string => `<${step}.metadata.resourceVersion>`;

/** An object is made, then something is done with it, and then it is read. */
export const around = (...steps: Step[]): Step[] => [create(), ...steps, get()];

/** A Tenant that has it from the beginning is the same on both sides. */
export const tenantFinalizer = 'tenant.cozystack.io/cleanup';

/** Specs of a Tenant whose values are of other types than the schema's. */
export const mistyped: readonly object[] = [{ host: 1 }, { host: true }, { host: ['a'] }, { host: null }, { gateway: 'yes' }, { resourceQuotas: [] }, { resourceQuotas: { cpu: true, memory: {} } }, { schedulingClass: {}, host: 1, nothing: 1 }];
