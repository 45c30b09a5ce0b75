import type { Case, Request } from '../case.ts';
import { apply, applyPatch, bare, create, get, jsonPatch, mergePatch, object, versionOf } from './build.ts';

const condition = { type: 'Ready', status: 'True', reason: 'Fine', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
const status = { observedGeneration: 1, conditions: [condition] };
const live = (part: object, metadata: object = {}): object => object(part, { resourceVersion: versionOf(0), ...metadata });

const put = (body: unknown, query = ''): Request => ({ method: 'PUT', path: `<one>/status${query}`, body });
const patched = (type: string, body: unknown, query = ''): Request => ({ method: 'PATCH', path: `<one>/status${query}`, type, body });

const bodies: readonly [string, unknown][] = [
  ['a status', live({ status })],
  ['no status', live({})],
  ['a null status', live({ status: null })],
  ['an empty status', live({ status: {} })],
  ['another spec', live({ status, spec: { apex: 'example.net' } })],
  ['a bad spec', live({ status, spec: { apex: 7 } })],
  ['no spec', live({ status, spec: undefined })],
  ['other labels', live({ status }, { labels: { a: 'b' } })],
  ['other finalizers', live({ status }, { finalizers: ['example.org/held'] })],
  ['other managed fields', live({ status }, { managedFields: [] })],
  ['no resourceVersion', object({ status })],
  ['a stale resourceVersion', object({ status }, { resourceVersion: '1' })],
  ['a bad status', live({ status: { observedGeneration: 'x' } })],
  ['a bad condition', live({ status: { conditions: [{ ...condition, status: 'Perhaps' }] } })],
  ['a condition without time', live({ status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Fine', message: '' }] } })],
  ['a condition with a bad time', live({ status: { conditions: [{ ...condition, lastTransitionTime: 'now' }] } })],
  ['two like conditions', live({ status: { conditions: [condition, condition] } })],
  ['an unknown field', live({ status: { nothing: 1 } })],
  ['another name', live({ status }, { name: 'other' })],
];

export const statuses: readonly Case[] = [
  ...bodies.map(([what, body]): Case => ({ name: `status update: with ${what}`, steps: [create(), put(body), get()] })),
  ...['Strict', 'Warn', 'Ignore'].map((mode): Case => ({ name: `status update: an unknown field, validated ${mode}`, steps: [create(), put(live({ status: { nothing: 1 } }), `?fieldValidation=${mode}`)] })),
  { name: 'status update: nothing new', steps: [create(), put(live({ status })), put(object({ status }, { resourceVersion: versionOf(1) })), get()] },
  { name: 'status update: dry run', steps: [create(), put(live({ status }), '?dryRun=All'), get('<one>/status')] },
  { name: 'status update: what is not there', steps: [put(object({ status }))] },
  { name: 'status patch: merge', steps: [create(), patched(mergePatch, { status }), get()] },
  { name: 'status patch: merge, and another spec', steps: [create(), patched(mergePatch, { status, spec: { apex: 'example.net' }, metadata: { labels: { a: 'b' } } }), get()] },
  { name: 'status patch: merge, only another spec', steps: [create(), patched(mergePatch, { spec: { apex: 'example.net' } }), get()] },
  { name: 'status patch: merge, null', steps: [create(), patched(mergePatch, { status }), patched(mergePatch, { status: null }), get()] },
  { name: 'status patch: merge, bad', steps: [create(), patched(mergePatch, { status: { observedGeneration: -1, conditions: [{ type: 'Ready' }] } })] },
  { name: 'status patch: merge, another manager', steps: [create(), patched(mergePatch, { status }, '?fieldManager=controller'), get()] },
  { name: 'status patch: JSON', steps: [create(), patched(jsonPatch, [{ op: 'add', path: '/status', value: status }]), get()] },
  { name: 'status patch: JSON below what is missing', steps: [create(), patched(jsonPatch, [{ op: 'add', path: '/status/observedGeneration', value: 3 }])] },
  { name: 'status patch: apply', steps: [create(), patched(applyPatch, object({ status, spec: undefined }), '?fieldManager=controller'), get()] },
  { name: 'status patch: apply, and a spec', steps: [create(), patched(applyPatch, object({ status, spec: { apex: 'example.net' } }), '?fieldManager=controller'), get()] },
  { name: 'status patch: apply, twice', steps: [create(), patched(applyPatch, object({ status, spec: undefined }), '?fieldManager=controller'), patched(applyPatch, object({ status: { observedGeneration: 2 }, spec: undefined }), '?fieldManager=controller'), get()] },
  { name: 'status patch: apply, conflict', steps: [create(), patched(applyPatch, object({ status: { observedGeneration: 1 }, spec: undefined }), '?fieldManager=a'), patched(applyPatch, object({ status: { observedGeneration: 2 }, spec: undefined }), '?fieldManager=b')] },
  { name: 'status patch: apply to what is not there', steps: [patched(applyPatch, object({ status }), '?fieldManager=controller')] },
  { name: 'status patch: apply, unknown field', steps: [create(), patched(applyPatch, object({ status: { nothing: 1 }, spec: undefined }), '?fieldManager=controller')] },
  { name: 'status patch: strategic merge', steps: [create(), patched('application/strategic-merge-patch+json', {})] },
  { name: 'status: managers of both', steps: [apply(object()), patched(applyPatch, object({ status, spec: undefined })  , '?fieldManager=one'), apply(object({ spec: { apex: 'example.net' } })), get()] },
  { name: 'status: a Tenant', kind: 'tenant', steps: [create(bare()), patched(mergePatch, { status: { host: 'a.b', externalIPsCount: 2 } }), patched(mergePatch, { status: { externalIPsCount: 3_000_000_000 } }), get()] },
  { name: 'status: as a Table', steps: [create(), { ...get('<one>/status'), accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }] },
];
