import { afterEach, beforeEach, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

const day = 24 * 3600 * 1000;
const now = Date.parse('2026-03-04T05:06:07.008Z');

describe('a log file that is put aside', () => {
  let folder: string;
  const errors: unknown[] = [];
  const fileAt = (options: Partial<RotationOptions> = {}, at = { now }): RotatingFile =>
    new RotatingFile({ path: path.join(folder, 'logs', 'audit.log'), maxSizeBytes: 10, maxAgeDays: 0, maxBackups: 0, compress: false, ...options }, (error) => errors.push(error), () => at.now);
  const files = async (): Promise<string[]> => (await readdir(path.join(folder, 'logs'))).toSorted();
  const content = async (name: string): Promise<string> => readFile(path.join(folder, 'logs', name), 'utf8');

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rotating-'));
  });
  afterEach(async () => {
    assert.deepEqual(errors.splice(0), []);
    await rm(folder, { recursive: true });
  });

  it('is made for its owner alone, with its folder, and appended to', async () => {
    for (const text of ['one\n', 'two\n']) {
      const file = fileAt();
      await file.open();
      await file.append(text);
      await file.close();
    }
    assert.equal(await content('audit.log'), 'one\ntwo\n');
    assert.equal((await stat(path.join(folder, 'logs', 'audit.log'))).mode & 0o777, 0o600);
    assert.equal((await stat(path.join(folder, 'logs'))).mode & 0o777, 0o700);
  });

  it('is put aside under the time before it gets too large; never in the middle of a text', async () => {
    const file = fileAt();
    await file.append('12345\n');
    await file.append('67890\n');
    await file.append('a text that is too long for any file\n');
    await file.close();
    assert.deepEqual(await files(), ['audit-2026-03-04T05-06-07.008.log', 'audit-2026-03-04T05-06-07.009.log', 'audit.log']);
    assert.equal(await content('audit-2026-03-04T05-06-07.008.log'), '12345\n');
    assert.equal(await content('audit-2026-03-04T05-06-07.009.log'), '67890\n');
    assert.equal(await content('audit.log'), 'a text that is too long for any file\n');
  });

  it('counts what an earlier process has written', async () => {
    await mkdir(path.join(folder, 'logs'));
    await writeFile(path.join(folder, 'logs', 'audit.log'), 'of before\n');
    const file = fileAt();
    await file.append('new\n');
    await file.close();
    assert.equal(await content('audit-2026-03-04T05-06-07.008.log'), 'of before\n');
    assert.equal(await content('audit.log'), 'new\n');
  });

  it('is never put aside with size 0', async () => {
    const file = fileAt({ maxSizeBytes: 0 });
    await Promise.all(Array.from({ length: 100 }, () => file.append('0123456789\n')));
    await file.close();
    assert.deepEqual(await files(), ['audit.log']);
  });

  it('is compressed where that is wanted, also what an earlier process left', async () => {
    await mkdir(path.join(folder, 'logs'));
    await writeFile(path.join(folder, 'logs', 'audit-2026-03-01T00-00-00.000.log'), 'old\n');
    const file = fileAt({ compress: true });
    await file.open();
    await file.append('12345\n');
    await file.append('67890\n');
    await file.close();
    assert.deepEqual(await files(), ['audit-2026-03-01T00-00-00.000.log.gz', 'audit-2026-03-04T05-06-07.008.log.gz', 'audit.log']);
    assert.equal(gunzipSync(await readFile(path.join(folder, 'logs', 'audit-2026-03-04T05-06-07.008.log.gz'))).toString(), '12345\n');
  });

  it('goes by number and age, and leaves alone what is not its own', async () => {
    await mkdir(path.join(folder, 'logs'));
    const foreign = ['audit-.log', 'audit-2026.log', 'audit-old.log', 'other-2020-01-01T00-00-00.000.log', 'audit-2020-01-01T00-00-00.000.txt'];
    const named = (ageDays: number): string => `audit-${new Date(now - ageDays * day).toISOString().slice(0, -1).replaceAll(':', '-')}.log`;
    for (const name of [...foreign, named(1), `${named(2)}.gz`, named(3), named(9)]) await writeFile(path.join(folder, 'logs', name), 'x');
    const aged = fileAt({ maxAgeDays: 5 });
    await aged.open();
    await aged.close();
    assert.deepEqual(await files(), [...foreign, named(1), `${named(2)}.gz`, named(3), 'audit.log'].toSorted());
    const counted = fileAt({ maxBackups: 2 });
    await counted.open();
    await counted.close();
    assert.deepEqual(await files(), [...foreign, named(1), `${named(2)}.gz`, 'audit.log'].toSorted());
  });

  it('fails a write that cannot be made, and makes the next one', async () => {
    const file = fileAt();
    await file.append('one\n');
    await file.close();
    await rm(path.join(folder, 'logs'), { recursive: true });
    await writeFile(path.join(folder, 'logs'), 'in the way');
    await assert.rejects(file.append('lost\n'), /EEXIST|ENOTDIR/);
    await rm(path.join(folder, 'logs'));
    await file.append('two\n');
    await file.close();
    assert.equal(await content('audit.log'), 'two\n');
  });

  it('tells at once that it cannot be written', async () => {
    await mkdir(path.join(folder, 'logs', 'audit.log'), { recursive: true });
    await chmod(folder, 0o700);
    await assert.rejects(fileAt().open(), /EISDIR/);
  });

  it('loses and tears nothing, whatever is appended at once', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[a-zé]{0,12}$/), { maxLength: 30 }), async (texts) => {
        await rm(path.join(folder, 'logs'), { recursive: true, force: true });
        const file = fileAt({ maxSizeBytes: 20 });
        await file.open();
        await Promise.all(texts.map((text) => file.append(`${text}\n`)));
        await file.close();
        const parts = await Promise.all((await files()).map(content));
        assert.equal(parts.join(''), texts.map((text) => `${text}\n`).join(''));
        assert.ok(parts.every((part) => Buffer.byteLength(part) <= 25));
      }),
      { numRuns: 30 },
    ));
});
