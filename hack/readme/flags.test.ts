import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { readmeWithFlags } from './flags.ts';

describe('README.md', () => {
  it("lists the server's flags as they are", async () => {
    const { present, wanted } = await readmeWithFlags();
    assert.equal(present, wanted, 'run node hack/readme/flags.ts');
  });
});
