import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const locked = {
  '': { name: 'x' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/for-another-platform': { version: '1.0.0', integrity: 'sha512-b', optional: true },
};
const { 'node_modules/a': a, 'node_modules/for-another-platform': other } = locked;

describe('bootstrap', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'bootstrap-'));
    for (const name of ['hack', 'bin', 'node_modules']) await mkdir(path.join(folder, name));
    await copyFile(path.join(import.meta.dirname, 'bootstrap.mjs'), path.join(folder, 'hack', 'bootstrap.mjs'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const run = async ({ installed, npmFails = false, node = 'v24.1.0' }: { installed?: object; npmFails?: boolean; node?: string }): Promise<{ status: number | null; stderr: string; npm: string }> => {
    const executable = (name: string, script: string): Promise<void> => writeFile(path.join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await executable('npm', `echo "$@" > '${folder}/npm'; exit ${npmFails ? 7 : 0}`);
    await executable('node', `echo ${node}`);
    await writeFile(path.join(folder, 'package-lock.json'), JSON.stringify({ packages: locked }));
    if (installed) await writeFile(path.join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
    const { status, stderr } = spawnSync(process.execPath, ['hack/bootstrap.mjs'], { cwd: folder, env: { PATH: path.join(folder, 'bin') }, encoding: 'utf8' });
    return { status, stderr, npm: await readFile(path.join(folder, 'npm'), 'utf8').catch(() => '') };
  };

  for (const { name, installed, installs } of [
    { name: 'leaves packages alone that are those of the lock', installed: { 'node_modules/a': a }, installs: false },
    { name: 'and also those with an optional one', installed: { 'node_modules/a': a, 'node_modules/for-another-platform': other }, installs: false },
    { name: 'installs where nothing is', installed: undefined, installs: true },
    { name: 'installs over another version', installed: { 'node_modules/a': { ...a, version: '0.9.0' } }, installs: true },
    { name: 'installs where something is missing', installed: {}, installs: true },
    { name: 'installs where something is left over', installed: { 'node_modules/a': a, 'node_modules/b': a }, installs: true },
  ]) {
    it(name, async () => {
      const { status, npm, stderr } = await run({ installed });
      assert.equal(status, 0, stderr);
      assert.equal(npm.startsWith('ci '), installs);
    });
  }

  it('passes on that npm failed', async () => {
    const { status, stderr } = await run({ npmFails: true });
    assert.equal(status, 1);
    assert.match(stderr, /npm ci failed with exit code 7/);
  });

  it('says what is wrong when only an old Node is there', async () => {
    const { status, stderr } = await run({ installed: { 'node_modules/a': a }, node: 'v20.20.2' });
    assert.equal(status, 1);
    assert.match(stderr, /Node 22\.19 or newer is needed, and PATH has v20\.20\.2/);
  });
});
