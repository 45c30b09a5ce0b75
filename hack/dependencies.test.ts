import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

describe('docs/dependencies.md', () => {
  it('names every package of package.json, and no other; versions are exact', async () => {
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
    const page = await readFile(path.join(root, 'docs', 'dependencies.md'), 'utf8');
    const wanted = Object.entries({ ...manifest['dependencies'], ...manifest['devDependencies'], ...manifest['optionalDependencies'] });
    const listed = page.split('\n').flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1]?.split(', ') ?? []).filter((name) => name !== 'Package');
    assert.deepEqual(listed.sort(), wanted.map(([name]) => name).sort());
    for (const [name, version] of wanted) assert.match(version, /^\d+\.\d+\.\d+$/, name);
  });
});
