import type { Case } from '../case.ts';
import { bare, create, createNamed, first, get, merge, object, remove, several, versionOf, yaml } from './build.ts';

const held = (): object => object({}, { finalizers: ['example.org/held'] });
const options = (part: object = {}): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...part });
const otherUid = 'c8f2d5b2-0000-4000-8000-000000000009';

const queries: readonly string[] = [
  'propagationPolicy=Background',
  'propagationPolicy=Foreground',
  'propagationPolicy=Orphan',
  'propagationPolicy=Sideways',
  'propagationPolicy=',
  'orphanDependents=true',
  'orphanDependents=false',
  'orphanDependents=true&propagationPolicy=Orphan',
  'gracePeriodSeconds=0',
  'gracePeriodSeconds=5',
  'gracePeriodSeconds=-1',
  'gracePeriodSeconds=x',
  'dryRun=All',
  'dryRun=Some',
  'dryRun=All&propagationPolicy=Foreground',
  'timeoutSeconds=1',
  'fieldManager=x',
];

const bodies: readonly [string, unknown][] = [
  ['no type', {}],
  ['the core type', options()],
  ['the type of meta', options({ apiVersion: 'meta.k8s.io/v1' })],
  ["the group's type", options({ apiVersion: '<apiVersion>' })],
  ['an unknown type', options({ apiVersion: 'example.org/v1' })],
  ['another kind', options({ kind: 'Other' })],
  ['its uid', options({ preconditions: { uid: first('metadata.uid') } })],
  ['another uid', options({ preconditions: { uid: otherUid } })],
  ['its version', options({ preconditions: { resourceVersion: versionOf(0) } })],
  ['a stale version', options({ preconditions: { resourceVersion: '1' } })],
  ['its uid and a stale version', options({ preconditions: { uid: first('metadata.uid'), resourceVersion: '1' } })],
  ['empty preconditions', options({ preconditions: {} })],
  ['propagationPolicy Foreground', options({ propagationPolicy: 'Foreground' })],
  ['propagationPolicy Orphan', options({ propagationPolicy: 'Orphan' })],
  ['propagationPolicy Sideways', options({ propagationPolicy: 'Sideways' })],
  ['orphanDependents', options({ orphanDependents: true })],
  ['orphanDependents and propagationPolicy', options({ orphanDependents: true, propagationPolicy: 'Orphan' })],
  ['gracePeriodSeconds', options({ gracePeriodSeconds: 5 })],
  ['gracePeriodSeconds of text', options({ gracePeriodSeconds: 'x' })],
  ['dryRun', options({ dryRun: ['All'] })],
  ['an unknown dryRun', options({ dryRun: ['Some'] })],
  ['dryRun of text', options({ dryRun: 'All' })],
  ['an unknown field', options({ nothing: 1 })],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', options({ ignoreStoreReadErrorWithClusterBreakingPotential: true })],
  ['a list', []],
  ['broken JSON', '{'],
  ['null', 'null'],
  ['an object of the kind', object()],
];

const all = (query = '', body?: unknown): { method: string; path: string; body?: unknown } => ({ method: 'DELETE', path: `<all>${query}`, ...(body !== undefined && { body }) });

const collections: readonly [string, string, unknown?][] = [
  ['all', ''],
  ['a label', '?labelSelector=odd%3Dyes'],
  ['a label of none', '?labelSelector=none'],
  ['a bad label selector', '?labelSelector=a%3D%3D%3Db'],
  ['a name', '?fieldSelector=metadata.name%3D<name>b'],
  ['a field that cannot be selected by', '?fieldSelector=spec.apex%3Da'],
  ['a limit', '?limit=2'],
  ['dry run', '?dryRun=All'],
  ['an unknown dryRun', '?dryRun=Some'],
  ['propagationPolicy', '?propagationPolicy=Foreground'],
  ['an unknown propagationPolicy', '?propagationPolicy=Sideways'],
  ['any version', '?resourceVersion=0'],
  ['a version', '?resourceVersion=<0.metadata.resourceVersion>'],
  ['an exact version', '?resourceVersion=<0.metadata.resourceVersion>&resourceVersionMatch=Exact'],
  ['a bad limit', '?limit=x'],
  ['options in the body', '', { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }],
  ['bad options in the body', '', { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Sideways' }],
  ['preconditions', '', { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: otherUid } }],
];

export const deletes: readonly Case[] = [
  { name: 'delete: an object', steps: [create(), remove(), get()] },
  { name: 'delete: what is not there', steps: [remove()] },
  { name: 'delete: what is not there, with preconditions', steps: [remove('', options({ preconditions: { uid: otherUid } }))] },
  { name: 'delete: what is not there, dry run', steps: [remove('?dryRun=All')] },
  ...queries.map((query): Case => ({ name: `delete: option ${query}`, steps: [create(), remove(`?${query}`)] })),
  ...['propagationPolicy=Background', 'propagationPolicy=Foreground', 'propagationPolicy=Orphan', 'gracePeriodSeconds=5', 'dryRun=All', 'orphanDependents=true', ''].map(
    (query): Case => ({ name: `delete: what is held, option ${query || 'none'}`, steps: [create(held()), remove(query && `?${query}`)] }),
  ),
  ...bodies.map(([what, body]): Case => ({ name: `delete: body with ${what}`, steps: [create(), remove('', body)] })),
  { name: 'delete: a body and a query', steps: [create(), remove('?propagationPolicy=Sideways', options({ propagationPolicy: 'Background' }))] },
  { name: 'delete: YAML', steps: [create(), { ...remove('', 'kind: DeleteOptions\napiVersion: v1\npropagationPolicy: Background\n'), type: yaml }] },
  { name: 'delete: an unknown content type', steps: [create(), { ...remove('', 'x'), type: 'text/plain' }] },
  { name: 'delete: what is held, twice', steps: [create(held()), remove(), remove(), get()] },
  { name: 'delete: what is held, with its uid', steps: [create(held()), remove('', options({ preconditions: { uid: first('metadata.uid') } })), remove('', options({ preconditions: { uid: otherUid } }))] },
  { name: 'delete: what is held until it is let go', steps: [create(held()), remove(), merge({ metadata: { finalizers: null } }), get()] },
  { name: 'delete: a Tenant', kind: 'tenant', steps: [create(bare()), remove(), merge({ metadata: { finalizers: null } }), get()] },
  { name: 'delete: a Tenant, dry run', kind: 'tenant', steps: [create(bare()), remove('?dryRun=All'), get()] },
  ...collections.map(([what, query, body]): Case => ({ name: `deletecollection: ${what}`, alone: true, steps: [...several(4), all(query, body), ...(query.includes('Foreground') ? [] : [{ path: '<all>' }])] })),
  { name: 'deletecollection: what is held', alone: true, steps: [createNamed('a', { finalizers: ['example.org/held'] }), createNamed('b'), all(), { path: '<all>' }] },
  { name: 'deletecollection: nothing', alone: true, steps: [all()] },
  { name: 'deletecollection: as a Table', alone: true, steps: [...several(2), { ...all(), accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }] },
  { name: 'deletecollection: as metadata', alone: true, steps: [...several(2), { ...all(), accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }] },
  { name: 'deletecollection: page after page', alone: true, steps: [...several(4), all('?limit=2'), all('?limit=2&continue=<4.metadata.continue>'), { path: '<all>' }] },
];
