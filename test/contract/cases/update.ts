import type { Case } from '../case.ts';
import { bare, create, first, get, mistyped, tenantFinalizer, object, remove, update, versionOf } from './build.ts';

const live = (part: object = {}, metadata: object = {}): object => object(part, { resourceVersion: versionOf(0), ...metadata });
const changed = { spec: { apex: 'example.net', certMode: 'dns01', dns01: { cloudflare: { apiTokenSecretRef: { name: 'token', key: 'key' } } } } };

const bodies: readonly [string, unknown][] = [
  ['another spec', live(changed)],
  ['nothing new', live()],
  ['what it was, with defaults', live({ spec: { apex: 'example.org', certMode: 'http01', gatewayClassName: 'cilium', issuerName: 'letsencrypt-prod' } })],
  ['no resourceVersion', object(changed)],
  ['an empty resourceVersion', live(changed, { resourceVersion: '' })],
  ['a stale resourceVersion', live(changed, { resourceVersion: '1' })],
  ['a resourceVersion 0', live(changed, { resourceVersion: '0' })],
  ['a resourceVersion that is none', live(changed, { resourceVersion: 'x' })],
  ['a resourceVersion that is yet to come', live(changed, { resourceVersion: '999999999' })],
  ['its uid', live(changed, { uid: first('metadata.uid') })],
  ['another uid', live(changed, { uid: 'c8f2d5b2-0000-4000-8000-000000000009' })],
  ['an empty uid', live(changed, { uid: '' })],
  ['another name', live(changed, { name: 'other' })],
  ['no name', live(changed, { name: '' })],
  ['another namespace', live(changed, { namespace: 'default' })],
  ['its namespace', live(changed, { namespace: '<namespace>' })],
  ['another kind', live({ ...changed, kind: 'Other' })],
  ['another version', live({ ...changed, apiVersion: '<group>/v9' })],
  ['another creationTimestamp', live(changed, { creationTimestamp: '2001-02-03T04:05:06Z' })],
  ['another generation', live(changed, { generation: 99 })],
  ['a deletionTimestamp', live(changed, { deletionTimestamp: '2001-02-03T04:05:06Z' })],
  ['a generateName', live(changed, { generateName: 'x-' })],
  ['labels alone', live({}, { labels: { a: 'b' } })],
  ['a finalizer', live({}, { finalizers: ['example.org/held'] })],
  ['an unknown field', live({ spec: { apex: 'example.org', nothing: 1 } })],
  ['a status', live({ status: { observedGeneration: 3 } })],
  ['a status and another spec', live({ ...changed, status: { observedGeneration: 3 } })],
  ['no spec', live({ spec: undefined })],
  ['a bad spec', live({ spec: { apex: 7 } })],
  ['no managed fields', live(changed, { managedFields: [] })],
  ['null managed fields', live(changed, { managedFields: null })],
  ['managed fields of nobody', live(changed, { managedFields: [{}] })],
  ['a field removed', live({ spec: { apex: 'example.org' } })],
];

const queries: readonly [string, string][] = [
  ['dryRun=All', '?dryRun=All'],
  ['an unknown dryRun', '?dryRun=Some'],
  ['fieldManager', '?fieldManager=somebody'],
  ['a long fieldManager', `?fieldManager=${'m'.repeat(129)}`],
  ['fieldValidation=Strict', '?fieldValidation=Strict'],
  ['an unknown fieldValidation', '?fieldValidation=Maybe'],
];

export const updates: readonly Case[] = [
  ...bodies.map(([what, body]): Case => ({ name: `update: with ${what}`, steps: [create(), update(body), get()] })),
  ...queries.map(([what, query]): Case => ({ name: `update: option ${what}`, steps: [create(), update(live(changed), query), get()] })),
  ...['Strict', 'Warn', 'Ignore'].map((mode): Case => ({ name: `update: unknown fields, validated ${mode}`, steps: [create(), update(live({ spec: { apex: 'example.org', nothing: 1 } }), `?fieldValidation=${mode}`)] })),
  { name: 'update: creates nothing', steps: [update(object()), get()] },
  { name: 'update: creates nothing, with a version', steps: [update(object({}, { resourceVersion: '1' })), get()] },
  { name: 'update: creates nothing, with a uid', steps: [update(object({}, { uid: 'c8f2d5b2-0000-4000-8000-000000000009' })), get()] },
  { name: 'update: twice with one version', steps: [create(), update(live(changed)), update(live({ spec: { apex: 'example.com' } })), get()] },
  { name: 'update: the last finalizer of what is being deleted', steps: [create(object({}, { finalizers: ['example.org/held'] })), remove(), update(object({}, { resourceVersion: versionOf(1), finalizers: [] })), get()] },
  { name: 'update: a new finalizer of what is being deleted', steps: [create(object({}, { finalizers: ['example.org/held'] })), remove(), update(object({}, { resourceVersion: versionOf(1), finalizers: ['example.org/held', 'example.org/more'] })), get()] },
  { name: 'update: the spec of what is being deleted', steps: [create(object({}, { finalizers: ['example.org/held'] })), remove(), update(object(changed, { resourceVersion: versionOf(1), finalizers: ['example.org/held'] })), get()] },
  ...mistyped.map((spec): Case => ({ name: `update: a Tenant with spec ${JSON.stringify(spec)}`, kind: 'tenant', steps: [create(bare({}, { finalizers: [tenantFinalizer] })), update(bare({ spec }, { resourceVersion: versionOf(0), finalizers: [tenantFinalizer] }))] })),
  { name: 'update: a Tenant', kind: 'tenant', steps: [create(bare()), update(bare({ spec: { etcd: true } }, { resourceVersion: versionOf(0), finalizers: ['tenant.cozystack.io/cleanup'] })), get()] },
  { name: 'update: at the collection', steps: [{ method: 'PUT', path: '<all>', body: object() }] },
  { name: 'update: an unknown content type', steps: [create(), { ...update(live(changed)), type: 'text/plain' }] },
];
