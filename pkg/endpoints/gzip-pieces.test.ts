import assert from 'node:assert/strict';
import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { combinedCrc, deflatePiece, gzipParts } from './gzip-pieces.ts';

const bytes = fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array));

describe('gzip pieces', () => {
  it('join to one member that holds all of them in order', () =>
    fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 6 }), async (parts) => {
        const gzipped = Buffer.concat(gzipParts(await Promise.all(parts.map(deflatePiece))));
        assert.deepEqual(gunzipSync(gzipped), Buffer.concat(parts));
        assert.equal(gzipped.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1), -1);
      }),
    ));

  it('combine their checksums', () => fc.assert(fc.property(bytes, bytes, (a, b) => assert.equal(combinedCrc(crc32(a), crc32(b), b.length), crc32(Buffer.concat([a, b]))))));

  it('may be used again in another place', async () => {
    const piece = await deflatePiece(Buffer.from('again '.repeat(100)));
    assert.equal(gunzipSync(Buffer.concat(gzipParts([piece, piece, piece]))).toString(), 'again '.repeat(300));
  });
});
