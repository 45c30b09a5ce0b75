import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jobsOf } from './jobs.ts';

describe('jobs of the lanes', () => {
  it('keep together what shares a control plane, and begin with what takes longest', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'jobs-'));
    try {
      const texts = { 'a.test.ts': 'ownCluster()', 'b.test.ts': 'sharedCluster()', 'c.test.ts': 'sharedControlPlane()', 'twin.test.ts': 'sharedTwin()', 'outage.test.ts': 'ownCluster()', 'd.test.ts': '' };
      for (const [file, text] of Object.entries(texts)) await writeFile(path.join(root, file), text);
      const jobs = await jobsOf(root, Object.keys(texts));
      assert.deepEqual(jobs.map(({ files }) => files), [['outage.test.ts'], ['b.test.ts', 'c.test.ts'], ['a.test.ts'], ['twin.test.ts'], ['d.test.ts']]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
