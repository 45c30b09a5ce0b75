import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { applyJsonPatch, PatchError, type PatchOperation } from './json-patch.ts';

const document = (): Record<string, unknown> => ({ a: 'x', list: [1, 2, 3], deep: { b: null } });

describe('JSON patch', () => {
  const applied: [string, PatchOperation[], unknown][] = [
    ['adds a field', [{ op: 'add', path: '/c', value: 1 }], { ...document(), c: 1 }],
    ['adds null where there is no value', [{ op: 'add', path: '/c' }], { ...document(), c: null }],
    ['adds in front of an item', [{ op: 'add', path: '/list/1', value: 9 }], { ...document(), list: [1, 9, 2, 3] }],
    ['adds at the end', [{ op: 'add', path: '/list/-', value: 9 }], { ...document(), list: [1, 2, 3, 9] }],
    ['counts an index below zero from behind the end', [{ op: 'add', path: '/list/-1', value: 9 }], { ...document(), list: [1, 2, 3, 9] }],
    ['replaces a field that is missing', [{ op: 'replace', path: '/c', value: 1 }], { ...document(), c: 1 }],
    ['replaces the last item', [{ op: 'replace', path: '/list/-1', value: 9 }], { ...document(), list: [1, 2, 9] }],
    ['replaces the document', [{ op: 'replace', path: '', value: { n: 1 } }, { op: 'add', path: '/m', value: 2 }], { n: 1, m: 2 }],
    ['removes', [{ op: 'remove', path: '/list/0' }, { op: 'remove', path: '/deep/b' }], { ...document(), list: [2, 3], deep: {} }],
    ['moves', [{ op: 'move', from: '/a', path: '/deep/c' }], { list: [1, 2, 3], deep: { b: null, c: 'x' } }],
    ['copies', [{ op: 'copy', from: '/list', path: '/c' }, { op: 'add', path: '/c/0', value: 0 }], { ...document(), c: [0, 1, 2, 3] }],
    ['copies null for what is missing', [{ op: 'copy', from: '/nothing', path: '/c' }], { ...document(), c: null }],
    ['tests', [{ op: 'test', path: '/list', value: [1, 2, 3] }, { op: 'test', path: '/nothing', value: null }, { op: 'test', path: '/deep/b' }], document()],
    ['reads escapes once', [{ op: 'add', path: '/a~01b', value: 1 }, { op: 'add', path: '/c~1d', value: 2 }], { ...document(), 'a~1b': 1, 'c/d': 2 }],
  ];
  for (const [name, operations, result] of applied) it(name, () => assert.deepEqual(applyJsonPatch(document(), operations), result));

  it('takes __proto__ for a plain key', () => {
    const result = applyJsonPatch(document(), [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as Record<string, unknown>;
    assert.ok(Object.hasOwn(result, '__proto__'));
    assert.equal(result['polluted'], undefined);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  const refused: [string, PatchOperation][] = [
    ['a remove of what is missing', { op: 'remove', path: '/c' }],
    ['a path below what is missing', { op: 'add', path: '/c/d', value: 1 }],
    ['a path below a text', { op: 'add', path: '/a/d', value: 1 }],
    ['an index beyond the end', { op: 'add', path: '/list/4', value: 1 }],
    ['an index that is none', { op: 'replace', path: '/list/x', value: 1 }],
    ['an index before the start', { op: 'remove', path: '/list/-4' }],
    ['a replace at the end of a list', { op: 'replace', path: '/list/-', value: 1 }],
    ['a test that fails', { op: 'test', path: '/a', value: 'y' }],
    ['a test without value of what is there', { op: 'test', path: '/a' }],
    ['a move of what is missing', { op: 'move', from: '/c', path: '/d' }],
    ['an add of the document', { op: 'add', path: '', value: {} }],
    ['a text for the document', { op: 'replace', path: '', value: 'x' }],
    ['no path', { op: 'remove' }],
    ['an unknown operation', { op: 'spam', path: '/a' }],
  ];
  for (const [name, operation] of refused) it(`refuses ${name}`, () => assert.throws(() => applyJsonPatch(document(), [operation]), PatchError));
});
