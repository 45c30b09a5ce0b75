import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { LineQueue } from './line-queue.ts';

const read = async (queue: LineQueue): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of queue) lines.push(line.toString());
  return lines;
};

describe('LineQueue', () => {
  it('gives the same lines however the bytes are cut', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[a-zé]{0,9}$/), { minLength: 1 }), fc.array(fc.nat(7)), async (lines, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const queue = new LineQueue();
        const reading = read(queue);
        for (let at = 0, index = 0; at < bytes.length; index += 1) {
          const size = 1 + (sizes[index % (sizes.length || 1)] ?? 0);
          queue.push(bytes.subarray(at, at + size));
          at += size;
        }
        queue.end();
        assert.deepEqual(await reading, lines);
      }),
    ));

  it('takes what follows the last line feed for a line', async () => {
    const queue = new LineQueue();
    queue.push(Buffer.from('a\nb'));
    queue.end();
    assert.deepEqual(await read(queue), ['a', 'b']);
  });

  it('delivers what came before an error, and not the broken line', async () => {
    const queue = new LineQueue();
    queue.push(Buffer.from('a\nbro'));
    queue.end(new Error('cut off'));
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const line of queue) seen.push(line.toString());
    }, /cut off/);
    assert.deepEqual(seen, ['a']);
  });

  it('asks to pause when much waits, and tells when it is read', async () => {
    const queue = new LineQueue();
    let drained = 0;
    queue.onDrained = () => void (drained += 1);
    assert.equal(queue.push(Buffer.from('small\n')), false);
    assert.equal(queue.push(Buffer.concat([Buffer.alloc(5 << 20, 'a'), Buffer.from('\n')])), true);
    const reading = read(queue);
    await new Promise((resolve) => setImmediate(resolve));
    queue.end();
    await reading;
    assert.equal(drained, 1);
  });
});
