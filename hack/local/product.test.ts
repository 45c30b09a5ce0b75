import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import { serverEnvironment } from './product.ts';

describe('the environment of local servers', () => {
  it('is what the image sets', async () => {
    const containerfile = await readFile(path.resolve(import.meta.dirname, '../../Containerfile'), 'utf8');
    const line = containerfile.split('\n').find((text) => text.startsWith('ENV NODE_OPTIONS='));
    assert.equal(line, `ENV ${Object.entries(serverEnvironment).map(([name, value]) => `${name}=${value}`).join(' ')}`);
  });
});
