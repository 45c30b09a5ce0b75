import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { applyWouldChange } from './managed-fields.ts';

const me = 'tenant-apiserver';

/** A Gateway as it lies in the cluster after our apply: defaults added, another manager's field beside ours. */
const live = (): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: {
    name: 'cozystack',
    namespace: 'tenant-a',
    uid: 'u',
    resourceVersion: '7',
    labels: { ours: '', theirs: 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'o1', controller: true }],
    managedFields: [
      {
        manager: me,
        operation: 'Apply',
        apiVersion: 'gateway.networking.k8s.io/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:ours': {} }, 'f:ownerReferences': { 'k:{"uid":"o1"}': {} } },
          'f:spec': {
            'f:gatewayClassName': {},
            'f:addresses': {},
            'f:listeners': {
              'k:{"name":"http"}': { '.': {}, 'f:name': {}, 'f:port': {}, 'f:tls': { 'f:certificateRefs': {} } },
            },
          },
        },
      },
      { manager: me, operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': {} } },
    ],
  },
  spec: {
    gatewayClassName: 'cilium',
    addresses: [],
    listeners: [
      { name: 'http', port: 80, protocol: 'HTTP', tls: { certificateRefs: [{ name: 'c', group: '', kind: 'Secret' }] } },
      { name: 'of-another', port: 99, protocol: 'TCP' },
    ],
  },
});

interface Wanted {
  metadata: { labels: Record<string, string>; ownerReferences: object[] };
  spec: { gatewayClassName?: string; addresses: unknown[]; listeners: { name: string; port: number; hostname?: string; tls?: { certificateRefs: { name: string }[] } }[] };
}

const desired = (change: (wanted: Wanted) => void = () => undefined): KubeObject => {
  const wanted = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'cozystack', namespace: 'tenant-a', labels: { ours: '' }, ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'o1', controller: true }] },
    spec: { gatewayClassName: 'cilium', addresses: [], listeners: [{ name: 'http', port: 80, tls: { certificateRefs: [{ name: 'c' }] } }] },
  };
  change(wanted);
  return wanted as unknown as KubeObject;
};

describe('applyWouldChange', () => {
  for (const { name, wanted, found = live(), changes } of [
    { name: 'nothing where all is as desired, defaults and foreign fields aside', wanted: desired(), changes: false },
    { name: 'a scalar', wanted: desired((d) => (d.spec.gatewayClassName = 'envoy')), changes: true },
    { name: 'a new label', wanted: desired((d) => (d.metadata.labels.more = 'x')), changes: true },
    { name: 'a label that we no longer want', wanted: desired((d) => delete d.metadata.labels.ours), changes: true },
    { name: "a value that is as desired but another's", wanted: desired((d) => (d.metadata.labels.theirs = 'x')), changes: true },
    { name: 'a new item of a keyed list', wanted: desired((d) => d.spec.listeners.push({ name: 'https', port: 443 })), changes: true },
    { name: 'an item of a keyed list that we no longer want', wanted: desired((d) => (d.spec.listeners = [])), changes: true },
    { name: 'a new field of an item', wanted: desired((d) => (d.spec.listeners[0]!.hostname = 'a.example.org')), changes: true },
    { name: 'a new item of an atomic list', wanted: desired((d) => d.spec.listeners[0]!.tls!.certificateRefs.push({ name: 'd' })), changes: true },
    { name: 'another owner', wanted: desired((d) => (d.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'o2' }])), changes: true },
    { name: 'a field that we no longer want', wanted: desired((d) => delete d.spec.gatewayClassName), changes: true },
    { name: 'an object that we never applied to', wanted: desired(), found: { ...live(), metadata: { ...live().metadata, managedFields: [] } }, changes: true },
    { name: 'a value that another changed', wanted: desired(), found: { ...live(), spec: { ...(live().spec as object), gatewayClassName: 'theirs' } }, changes: true },
  ] as { name: string; wanted: KubeObject; found?: KubeObject; changes: boolean }[])
    it(`sees ${name}`, () => assert.equal(applyWouldChange(wanted, found, me), changes));

  it('does not mind the order of a keyed list', () => {
    const found = live();
    (found.spec as { listeners: unknown[] }).listeners.reverse();
    assert.equal(applyWouldChange(desired(), found, me), false);
  });

  /** What a server-side apply of a schemaless object leaves: everything granular but lists, which are atomic. */
  const fieldsOf = (value: unknown): Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [`f:${key}`, fieldsOf(item)]))
      : {};
  const applied = (wanted: KubeObject): KubeObject => ({
    ...wanted,
    metadata: { ...wanted.metadata, managedFields: [{ manager: me, operation: 'Apply', apiVersion: wanted.apiVersion, fieldsV1: fieldsOf({ spec: wanted.spec }) }] },
  });
  const anyObject = fc
    .dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.jsonValue({ maxDepth: 3 }))
    .map((spec): KubeObject => ({ apiVersion: 'v1', kind: 'Any', metadata: { name: 'x' }, spec: JSON.parse(JSON.stringify(spec)) as object }));

  it('is false after an apply', () => fc.assert(fc.property(anyObject, (object) => assert.equal(applyWouldChange(object, applied(object), me), false))));

  it('is false only if what is desired holds', () =>
    fc.assert(
      fc.property(anyObject, anyObject, (one, other) => {
        if (!applyWouldChange(one, applied(other), me)) assert.deepEqual(one, other);
      }),
    ));
});
