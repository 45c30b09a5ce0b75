import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { occupy } from './fixed-certificates.ts';

describe('a folder at a fixed path', () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'fixed-'));
    folder = path.join(parent, 'certs');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  it('is gone afterwards where there was none', async () => {
    const putBack = await occupy(folder, { 'tls.crt': 'a' });
    assert.equal(await readFile(path.join(folder, 'tls.crt'), 'utf8'), 'a');
    await putBack();
    assert.deepEqual(await readdir(parent), []);
  });

  it('is what it was afterwards, also when a run was killed', async () => {
    await mkdir(folder);
    await writeFile(path.join(folder, 'tls.crt'), 'of another');
    await occupy(folder, { 'tls.crt': 'a' }); // and killed
    const putBack = await occupy(folder, { 'tls.crt': 'b' });
    assert.equal(await readFile(path.join(folder, 'tls.crt'), 'utf8'), 'b');
    await putBack();
    assert.equal(await readFile(path.join(folder, 'tls.crt'), 'utf8'), 'of another');
    assert.deepEqual(await readdir(parent), ['certs']);
  });
});
