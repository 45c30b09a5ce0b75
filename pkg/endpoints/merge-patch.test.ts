import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { mergePatch } from './merge-patch.ts';

describe('mergePatch', () => {
  // the table of RFC 7396, appendix A
  for (const [target, patch, result] of [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{}', '{"__proto__":{"polluted":true}}', '{"__proto__":{"polluted":true}}'],
  ] as const) {
    it(`${target} with ${patch} is ${result}`, () => {
      assert.equal(JSON.stringify(mergePatch(JSON.parse(target), JSON.parse(patch))), result);
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    });
  }
});
