import type { Case, Request } from '../case.ts';
import { apply, bare, create, createNamed, object } from './build.ts';

const quotas = '/api/v1/namespaces/<namespace>/resourcequotas';
const counted = 'count/<plural>.<group>';

/** A quota of so many objects, and what it says once they were counted. */
const quotaOf = (hard: string, spec: object = {}): Request => ({
  method: 'POST',
  path: quotas,
  body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: '<plural>.<group>' }, spec: { hard: { [counted]: hard }, ...spec } },
});
const used = (count: string): Request => ({ path: `${quotas}/<plural>.<group>`, until: ({ status }) => Object.values(status?.used ?? {})[0] === count });
const removeNamed = (suffix: string): Request => ({ method: 'DELETE', path: `<all>/<name>${suffix}` });

/** What requests and refusals say; the quota itself has managers of its own. */
const withoutQuota = (body: any): unknown => (body?.kind === 'ResourceQuota' ? body.status : body);
const of = (name: string, steps: Case['steps'], kind?: Case['kind']): Case => ({ name, alone: true, only: withoutQuota, steps, ...(kind && { kind }) });

export const quotaCases: readonly Case[] = [
  of('quota: is used up', [quotaOf('2'), used('0'), createNamed('a'), createNamed('b'), createNamed('c'), used('2')]),
  of('quota: of nothing', [quotaOf('0'), used('0'), create()]),
  of('quota: of nothing, dry run', [quotaOf('0'), used('0'), create(object(), '?dryRun=All')]),
  of('quota: a dry run takes no place', [quotaOf('1'), used('0'), create(object(), '?dryRun=All'), create(), createNamed('b')]),
  of('quota: by apply', [quotaOf('1'), used('0'), apply(object()), apply(object({ spec: { apex: 'example.net' } })), { ...apply(object({}, { name: '<name>b' })), path: '<all>/<name>b?fieldManager=one' }]),
  of('quota: by a drawn name', [quotaOf('0'), used('0'), create(object({}, { name: undefined, generateName: 'some-' }))]),
  of('quota: counts what was there', [createNamed('a'), quotaOf('1'), used('1'), createNamed('b')]),
  of('quota: gives places back', [quotaOf('1'), used('0'), createNamed('a'), createNamed('b'), removeNamed('a'), used('0'), createNamed('c')]),
  of('quota: what is refused takes no place', [quotaOf('1'), used('0'), create(object({ spec: {} })), used('0'), createNamed('a')]),
  of('quota: of Tenants', [quotaOf('0'), used('0'), create(bare())], 'tenant'),
  of('quota: of Gadgets', [quotaOf('1'), used('0'), create(bare()), create(bare({}, { name: '<name>b' }))], 'gadget'),
  of('quota: of another thing', [{ ...quotaOf('0'), body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: '<plural>.<group>' }, spec: { hard: { 'count/nothings.example.org': '0' } } } }, create()]),
];
