import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { exactMatch, isSubdomain, parseFieldSelector, parseLabelSelector } from './selectors.ts';

describe('field selectors', () => {
  for (const { selector, terms } of [
    { selector: '', terms: [] },
    { selector: ',,', terms: [] },
    { selector: 'metadata.name=a', terms: ['metadata.name = a'] },
    { selector: 'b==1,a!=2', terms: ['a != 2', 'b = 1'] },
    { selector: String.raw`a=x\,y\=z\\`, terms: [String.raw`a = x,y=z\ `.trimEnd()] },
    { selector: 'a=', terms: ['a = '] },
    { selector: 'a!=', terms: ['a != '] },
  ]) {
    it(`reads '${selector}'`, () => assert.deepEqual(parseFieldSelector(selector).map((t) => `${t.field} ${t.operator} ${t.value}`), terms));
  }

  for (const { selector, fault } of [
    { selector: 'a', fault: "invalid selector: 'a'; can't understand 'a'" },
    { selector: 'a=b=c', fault: 'invalid field selector: unescaped character in value: 61' },
    { selector: String.raw`a=\x`, fault: String.raw`invalid field selector: invalid escape sequence: \x` },
    { selector: 'a=b\\', fault: 'invalid field selector: invalid escape sequence: \\' },
  ]) {
    it(`refuses '${selector}'`, () => assert.throws(() => parseFieldSelector(selector), { message: fault }));
  }

  it('finds the value a field must have', () => {
    assert.equal(exactMatch(parseFieldSelector('x!=1,metadata.name=a'), 'metadata.name'), 'a');
    assert.equal(exactMatch(parseFieldSelector('metadata.name!=a'), 'metadata.name'), undefined);
  });
});

describe('label selectors', () => {
  for (const { selector, terms } of [
    { selector: '', terms: [] },
    { selector: '  ', terms: [] },
    { selector: 'a', terms: ['a Exists '] },
    { selector: '!a', terms: ['a DoesNotExist '] },
    { selector: 'b=1,a==2', terms: ['a In 2', 'b In 1'] },
    { selector: 'a!=x', terms: ['a NotIn x'] },
    { selector: 'x in (foo,,baz),y,z notin ()', terms: ['x In |baz|foo', 'y Exists ', 'z NotIn '] },
    { selector: 'a in (in,notin)', terms: ['a In in|notin'] },
    { selector: 'a=,b', terms: ['a In ', 'b Exists '] },
    { selector: 'example.org/a > 5, c<-1', terms: [] },
    { selector: 'example.org/a > 5', terms: ['example.org/a Gt 5'] },
  ]) {
    if (terms.length === 0 && selector.trim() !== '') it(`refuses '${selector}'`, () => assert.throws(() => parseLabelSelector(selector)));
    else it(`reads '${selector}'`, () => assert.deepEqual(parseLabelSelector(selector).map((t) => `${t.key} ${t.operator} ${t.values.join('|')}`), terms));
  }

  for (const { selector, fault } of [
    { selector: ',a', fault: /^found ',', expected: !, identifier, or 'end of string'$/ },
    { selector: 'a,', fault: /^found '', expected: identifier after ','$/ },
    { selector: 'a,,b', fault: /^found ',', expected: identifier after ','$/ },
    { selector: '!a=b', fault: /^found '=', expected: ',' or 'end of string'$/ },
    { selector: 'a b', fault: /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt$/ },
    { selector: 'a in b', fault: /^unable to parse requirement: found 'b' expected: '\('$/ },
    { selector: 'a in (b', fault: /^unable to parse requirement: found ''/ },
    { selector: 'a=b c', fault: /^found 'c', expected: ',' or 'end of string'$/ },
    { selector: 'a/b/c=d', fault: /Invalid value: "a\/b\/c"/ },
    { selector: 'a=b\u00a0c', fault: /Invalid value/ },
    { selector: `a=${'x'.repeat(64)}`, fault: /Invalid value/ },
    { selector: 'a>x', fault: /must be an integer/ },
  ]) {
    it(`refuses '${selector}'`, () => assert.throws(() => parseLabelSelector(selector), { message: fault }));
  }

  it('ends on any text', () =>
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', '=', '!', '(', ')', ',', ' ', 'in', 'notin', '<', '\\') }), (text) => {
      for (const parse of [parseLabelSelector, parseFieldSelector]) {
        try {
          assert.ok(Array.isArray(parse(text)));
        } catch (error) {
          assert.ok(error instanceof Error && !(error instanceof TypeError));
        }
      }
    })));
});

describe('isSubdomain', () => {
  for (const [name, valid] of [['a', true], ['a-b.c1', true], ['A', false], ['a..b', false], ['-a', false], ['', false], ['a'.repeat(254), false]] as const) {
    it(`${valid ? 'takes' : 'refuses'} '${name.slice(0, 20)}'`, () => assert.equal(isSubdomain(name), valid));
  }
});
