import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { PrinterColumn } from '../../api/resource.ts';
import { humanDuration } from './duration.ts';
import { compileJsonPath } from './jsonpath.ts';
import { compileColumns, renderRow, rowTemplate, table, tableRow, toPartialObjectMetadata } from './table.ts';

const now = new Date('2026-01-01T00:00:00Z');
const object = (rest: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1', kind: 'K', metadata: { uid: 'u', name: 'a', creationTimestamp: '2025-12-31T23:00:00Z', resourceVersion: '7' }, ...rest,
});

describe('humanDuration', () => {
  const [s, m, h, d, y] = [1000, 60_000, 3_600_000, 86_400_000, 365 * 86_400_000];
  for (const [duration, text] of [
    [-2 * s, '<invalid>'], [-1.9 * s, '0s'], [-0.5 * s, '0s'], [0, '0s'], [119 * s, '119s'], [2 * m, '2m'], [3 * m + 7 * s, '3m7s'], [10 * m + 1, '10m'], [179 * m, '179m'],
    [3 * h, '3h'], [7 * h + 59 * m, '7h59m'], [8 * h + 1 * m, '8h'], [47 * h, '47h'], [48 * h, '2d'], [2 * d + 3 * h, '2d3h'], [8 * d + h, '8d'], [729 * d, '729d'], [2 * y, '2y'],
    [3 * y + 40 * d, '3y40d'], [8 * y + 40 * d, '8y'],
  ] as const) it(`shows ${duration} ms as ${text}`, () => assert.equal(humanDuration(duration), text));
});

describe('compileJsonPath', () => {
  const value = {
    spec: { host: 'h', 'a.b': 1, list: [{ n: 1, t: 'x' }, { n: 2, t: 'y' }, { n: 3, t: 'x' }], empty: null, flag: true },
    status: { conditions: [{ type: 'Synced', status: 'False' }, { type: 'Ready', status: 'True' }] },
  };
  for (const [path, want] of [
    ['.spec.host', ['h']],
    ['.spec', [value.spec]],
    ['.spec.missing.deeper', []],
    ['.spec.empty', [null]],
    ['.spec.empty.deeper', []],
    ['.spec.host.deeper', []],
    [".spec['a.b']", []], // Kubernetes reads it as two fields
    ['.spec.a\\.b', [1]],
    ["['spec']['host']", ['h']],
    ['.spec.list[0].n', [1]],
    ['.spec.list[-1].n', [3]],
    ['.spec.list[7].n', []],
    ['.spec.list[*].n', [1, 2, 3]],
    ['.spec.list[1:].n', [2, 3]],
    ['.spec.list[0:3:2].n', [1, 3]],
    ['.spec.list[0,2].n', [1, 3]],
    ['.spec.host[0]', []],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Nope')].status", []],
    ['.spec.list[?(@.n>1)].n', [2, 3]],
    ['.spec.list[?(@.n<="x")].n', []],
    ['.spec.list[?(@.t)].n', [1, 2, 3]],
    ['.spec.list[?(@.t!="x")].n', [2]],
    ['.spec.constructor', []],
    ['..n', [1, 2, 3]],
    ['$.spec.flag', [true]],
    ['.spec.list[].n', [1]],
    ['.spec.list[?(@.n==x)].n', []],
  ] as const) it(path, () => assert.deepEqual(compileJsonPath(path)(value), want));
  for (const path of ['.a[', '.a[?(@.b', '.a[x]', '%', '.a[?(@.b=~1)]', '.a[-]']) it(`refuses ${path}`, () => assert.throws(() => compileJsonPath(path)));
});

describe('table cells', () => {
  for (const [type, value, cell] of [
    ['string', 'x', 'x'], ['string', 5, '5'], ['string', 1.5, '1.5'], ['string', 1234567.5, '1.2345675e+06'], ['string', 0.00001, '1e-05'], ['string', true, 'true'],
    ['string', null, '<no value>'], ['string', undefined, null], ['string', { b: 1, a: '<' }, '{"a":"\\u003c","b":1}'], ['string', [1, 'x'], '[1,"x"]'],
    ['integer', 5, 5], ['integer', 5.7, 5], ['integer', '5', null], ['number', 1.5, 1.5], ['number', 'x', null], ['boolean', true, true], ['boolean', 'true', null],
    ['date', '2025-12-31T23:59:00Z', '60s'], ['date', '2025-12-31T23:59:00+01:00', '61m'], ['date', 'yesterday', '<invalid>'], ['date', '2026-01-02T00:00:00Z', '<invalid>'],
    ['date', '', '<unknown>'], ['date', 5, null], ['date', undefined, null],
  ] as [PrinterColumn['type'], unknown, unknown][]) {
    it(`${type} of ${JSON.stringify(value)} is ${JSON.stringify(cell)}`, () => {
      const columns = compileColumns({ printerColumns: [{ name: 'C', type, jsonPath: '.spec.v' }] });
      assert.deepEqual(columns.cells(object({ spec: { ...(value !== undefined && { v: value }) } }), now), ['a', cell]);
    });
  }
});

describe('table', () => {
  const columns = compileColumns({
    printerColumns: [
      { name: 'Host', type: 'string', jsonPath: '.status.host', description: 'Effective apex domain.' },
      { name: 'Version', type: 'string', jsonPath: '.status.version', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });
  it('describes its columns as a CustomResourceDefinition does', () => {
    assert.deepEqual(columns.columnDefinitions.map(({ name, type, format, priority }) => [name, type, format, priority]), [
      ['Name', 'string', 'name', 0], ['Host', 'string', '', 0], ['Version', 'string', '', 1], ['Age', 'date', '', 0],
    ]);
    assert.equal(columns.columnDefinitions[1]?.description, 'Effective apex domain.');
    assert.equal(columns.columnDefinitions[3]?.description, 'Custom resource definition column (in JSONPath format): .metadata.creationTimestamp');
  });
  it('carries over what a list says of itself', () => {
    const list = { metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 3 }, items: [object(), object()] };
    const { metadata, rows } = table(columns, list, { now });
    assert.deepEqual(metadata, { resourceVersion: '9', continue: 'c', remainingItemCount: 3 });
    assert.deepEqual(rows.map(({ cells }) => cells), Array(2).fill(['a', null, null, '60m']));
  });
  it('of one object has its version', () => assert.deepEqual(table(columns, object(), { now, headers: false }), {
    kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' }, columnDefinitions: null,
    rows: [tableRow(columns, object(), now)],
  }));
  it('includes what is asked for', () => {
    assert.equal(tableRow(columns, object(), now, 'None').object, null);
    assert.deepEqual(tableRow(columns, object({ spec: {} }), now, 'Object').object, object({ spec: {} }));
    const partial = tableRow(columns, object({ spec: {} }), now, 'Metadata', 'meta.k8s.io/v1beta1').object as ReturnType<typeof toPartialObjectMetadata>;
    assert.deepEqual(partial, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata: object().metadata });
    assert.deepEqual(Object.keys(partial.metadata), ['name', 'uid', 'resourceVersion', 'creationTimestamp']);
  });
  it('renders from a template what it renders afresh', () =>
    fc.assert(fc.property(fc.string(), fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })), fc.constantFrom('None', 'Metadata', 'Object'), fc.jsonValue(), (name, created, include, spec) => {
      const one = object({ spec, metadata: { name, ...(created && { creationTimestamp: created.toISOString() }) } });
      const twice = compileColumns({ printerColumns: [...tenants.printerColumns, { name: 'Again', type: 'date', jsonPath: '.metadata.creationTimestamp' }, { name: 'S', type: 'string', jsonPath: '.spec' }] });
      assert.equal(renderRow(rowTemplate(twice, one, include), now), JSON.stringify(tableRow(twice, one, now, include)));
    })));
});
