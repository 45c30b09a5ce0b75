import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { extraLines, headerLine, headerLines, removeHeaders } from './headers.ts';

/** As a header value arrives in Node: bytes as latin1. */
const wire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('headers', () => {
  it('gives each line whole, whatever the case of its name', () => {
    const raw = ['X-Remote-Group', 'a, b', 'x-remote-GROUP', 'c', 'X-Remote-Group-Not', 'd', 'X-Remote-Group', ''];
    assert.deepEqual(headerLines(raw, 'x-Remote-group'), ['a, b', 'c', '']);
    assert.equal(headerLine(raw, 'X-Remote-Group-Not'), 'd');
    assert.equal(headerLine(raw, 'X-Other'), '');
  });

  it('reads UTF-8', () => assert.equal(headerLine(['User', wire('zoë ☂')], 'user'), 'zoë ☂'));

  for (const { header, key } of [
    { header: 'X-Remote-Extra-Scopes', key: 'scopes' },
    { header: 'x-remote-extra-Example.org%2FKey', key: 'example.org/key' },
    { header: 'X-Remote-Extra-Zo%C3%AB', key: 'zoë' },
    { header: 'X-Remote-Extra-50%', key: '50%' },
    { header: 'X-Remote-Extra-%zz%41', key: '%zz%41' },
    { header: 'X-Remote-Extra-%41', key: 'A' },
    { header: 'X-Remote-Extra-', key: '' },
    { header: 'X-Remote-Extra-__proto__', key: '__proto__' },
  ]) {
    it(`reads ${header} as extra key '${key}'`, () => assert.deepEqual([...extraLines([header, 'a,b', header.toUpperCase(), 'c'], 'X-Remote-Extra-')], [[key, ['a,b', 'c']]]));
  }

  it('removes chosen headers from every form, and only those', () => {
    const request = {
      rawHeaders: ['Accept', 'x', 'AUTHORIZATION', 'secret', 'X-Remote-Extra-A', '1', 'x-remote-user', 'me', 'X-Remote', 'stays'],
      headers: { accept: 'x', authorization: 'secret', 'x-remote-extra-a': '1', 'x-remote-user': 'me', 'x-remote': 'stays' } as Record<string, unknown>,
      headersDistinct: { authorization: ['secret'], accept: ['x'] } as Record<string, unknown>,
    };
    removeHeaders(request, { names: ['Authorization', 'X-Remote-User'], prefixes: ['X-Remote-Extra-', ''] });
    assert.deepEqual(request.rawHeaders, ['Accept', 'x', 'X-Remote', 'stays']);
    assert.deepEqual(request.headers, { accept: 'x', 'x-remote': 'stays' });
    assert.deepEqual(request.headersDistinct, { accept: ['x'] });
  });

  it('reads back any key that was escaped and any value', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (key, value) => {
        const escaped = Buffer.from(key, 'utf8').toString('hex').replaceAll(/../g, '%$&');
        assert.deepEqual([...extraLines([`x-${escaped}`, wire(value)], 'X-')], [[Buffer.from(key).toString(), [Buffer.from(value).toString()]]]);
      }),
    ));
});
