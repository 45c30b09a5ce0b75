import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import { booleanOption, checkedDeleteOptions, integerOption, parseWriteOptions } from './write-options.ts';

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return '';
};

describe('options of a write', () => {
  for (const [value, expected] of [['true', true], ['1', true], ['', true], ['yes', true], ['FALSE', false], ['0', false], [null, undefined]] as const) {
    it(`${JSON.stringify(value)} as a boolean is ${expected}`, () => assert.equal(booleanOption(value), expected));
  }

  for (const { value, why } of [
    { value: '9223372036854775807', why: '' },
    { value: '-1', why: '' },
    { value: '9223372036854775808', why: 'strconv.ParseInt: parsing "9223372036854775808": value out of range' },
    { value: 'many', why: 'strconv.ParseInt: parsing "many": invalid syntax' },
    { value: '1.5', why: 'strconv.ParseInt: parsing "1.5": invalid syntax' },
  ]) it(`${value} as an integer: ${why || 'taken'}`, () => assert.equal(messageOf(() => integerOption(value)), why));

  for (const { query, message } of [
    { query: 'dryRun=All', message: '' },
    { query: 'dryRun=Some&dryRun=All', message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some","All"]: supported values: "All"' },
    { query: 'fieldValidation=Maybe', message: 'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"' },
    { query: 'fieldManager=%C3%A9%01', message: 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "é\\x01": invalid character U+0001 (at position 2)' },
  ]) it(`${query}: ${message || 'taken'}`, () => assert.equal(messageOf(() => parseWriteOptions(new URLSearchParams(query), undefined, 'CreateOptions')), message));
});

describe('the body of a delete', () => {
  for (const { body, field } of [
    { body: { dryRun: 'All' }, field: 'string into Go struct field DeleteOptions.dryRun of type []string' },
    { body: { dryRun: [1] }, field: 'number into Go struct field DeleteOptions.dryRun of type string' },
    { body: { gracePeriodSeconds: 'x' }, field: 'string into Go struct field DeleteOptions.gracePeriodSeconds of type int64' },
    { body: { orphanDependents: 'no' }, field: 'string into Go struct field DeleteOptions.orphanDependents of type bool' },
    { body: { propagationPolicy: {} }, field: 'object into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation' },
    { body: { preconditions: [] }, field: 'array into Go struct field DeleteOptions.preconditions of type v1.Preconditions' },
    { body: { preconditions: { uid: 7 } }, field: 'number into Go struct field DeleteOptions.preconditions.uid of type types.UID' },
  ]) {
    it(`${JSON.stringify(body)} is a bad request, not a failure`, () =>
      assert.throws(() => checkedDeleteOptions(body), (error) => hasCode(error, 400) && error.message === `json: cannot unmarshal ${field}`));
  }

  it('null is absence', () => assert.deepEqual(checkedDeleteOptions({ dryRun: null, preconditions: { uid: null, resourceVersion: '1' } }), { preconditions: { resourceVersion: '1' } }));
});
