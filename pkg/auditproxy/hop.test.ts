import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { addForwardedFor, forwardedHeaders, returnedHeaders } from './hop.ts';

const identity = { names: ['X-Who'], prefixes: ['X-More-'] };

describe('forwardedHeaders', () => {
  for (const { name, raw, kept } of [
    { name: 'keeps what is for the server', raw: ['Accept', 'a', 'If-Match', '"1"', 'Audit-ID', 'x'], kept: { accept: 'a', 'if-match': '"1"', 'audit-id': 'x' } },
    { name: 'keeps lines apart', raw: ['Warning', 'a', 'warning', 'b', 'WARNING', 'c'], kept: { warning: ['a', 'b', 'c'] } },
    { name: 'takes the first of what may be there once', raw: ['Content-Type', 'a', 'content-type', 'b', 'content-length', '1', 'content-length', '2'], kept: { 'content-type': 'a', 'content-length': '1' } },
    { name: 'takes any name for a name', raw: ['constructor', 'a', 'toString', 'b', 'toString', 'c'], kept: { constructor: 'a', tostring: ['b', 'c'] } as object },
    { name: 'drops pseudo headers and host', raw: [':path', '/', ':authority', 'x', 'Host', 'y'], kept: {} },
    {
      name: 'drops who the caller is or claims to be, in any case',
      raw: ['Authorization', 'Bearer x', 'IMPERSONATE-User', 'root', 'impersonate-extra-a', 'b', 'X-Remote-User', 'r', 'x-remote-extra-a', 'b', 'x-remote-anything', 'c', 'x-who', 'w', 'X-MORE-a', 'm'],
      kept: {},
    },
    {
      name: 'drops what is of the connection, and what Connection names',
      raw: ['Connection', 'close, X-Hop', 'connection', 'Other', 'X-Hop', 'a', 'Other', 'b', 'Keep-Alive', 'c', 'TE', 'trailers', 'Transfer-Encoding', 'chunked', 'Upgrade', 'h2c', 'Proxy-Authorization', 'p', 'Trailer', 't', 'Expect', '100-continue'],
      kept: {},
    },
  ]) it(name, () => assert.deepEqual({ ...forwardedHeaders(raw, identity) }, kept));
});

describe('returnedHeaders', () => {
  it('drops what is of the connection', () =>
    assert.deepEqual({ ...returnedHeaders({ ':status': '200', connection: 'x-hop', 'x-hop': '1', 'transfer-encoding': 'chunked', 'audit-id': 'i', warning: 'w' }) }, { 'audit-id': 'i', warning: 'w' }));
});

describe('addForwardedFor', () => {
  for (const [before, after] of [
    [undefined, '10.0.0.1'],
    ['192.0.2.1', '192.0.2.1, 10.0.0.1'],
    [['192.0.2.1', '192.0.2.2'], '192.0.2.1, 192.0.2.2, 10.0.0.1'],
  ] as const) {
    it(`makes ${String(before)} ${after}`, () => {
      const headers = { 'x-forwarded-for': before as string };
      addForwardedFor(headers, '10.0.0.1');
      assert.equal(headers['x-forwarded-for'], after);
    });
  }
});
