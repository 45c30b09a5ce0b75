import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { warningsOf } from './client.ts';

describe('warningsOf', () => {
  for (const [header, texts] of [
    [undefined, []],
    ['299 - "one"', ['one']],
    ['299 - "one, with a comma", 299 - "two \\"quoted\\" \\\\ words"', ['one, with a comma', 'two "quoted" \\ words']],
    ['nonsense', []],
  ] as const) {
    it(`${header ?? '(none)'} gives ${texts.length}`, () => assert.deepEqual(warningsOf({ warning: header }), texts));
  }
});
