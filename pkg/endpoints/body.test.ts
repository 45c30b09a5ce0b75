import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'mocha';
import { hasCode } from '../kube/status-error.ts';
import { readBody } from './body.ts';

describe('readBody', () => {
  it('joins what comes in pieces', async () => {
    const stream = new PassThrough();
    const reading = readBody(stream);
    stream.write('one ');
    stream.end('two');
    assert.equal((await reading).toString(), 'one two');
  });

  it('reads what was there before', async () => {
    const stream = new PassThrough();
    stream.end('early');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await readBody(stream)).toString(), 'early');
  });

  it('takes as much as the limit and no more', async () => {
    const exact = new PassThrough();
    exact.end(Buffer.alloc(10));
    assert.equal((await readBody(exact, 10)).length, 10);
    const more = new PassThrough();
    more.end(Buffer.alloc(11));
    await assert.rejects(readBody(more, 10), (error) => hasCode(error, 413));
  });

  it('tells when the client breaks off', async () => {
    const stream = new PassThrough();
    const reading = readBody(stream);
    stream.write('half');
    stream.destroy();
    await assert.rejects(reading, (error) => hasCode(error, 400));
    await assert.rejects(readBody(stream), (error) => hasCode(error, 400));
  });
});
