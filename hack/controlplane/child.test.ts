import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../../test/poll.ts';
import { Child } from './child.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('child process', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'child-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const shell = (name: string, script: string, ready: () => Promise<boolean>, more: { restart?: boolean; log?: (line: string) => void } = {}): Child =>
    new Child({ name, executable: '/bin/sh', args: ['-c', script], logFile: path.join(folder, `${name}.log`), ready, ...more });

  it('starts, stops, and starts again', async () => {
    const child = shell('sleeper', 'exec sleep 60', async () => true);
    for (let round = 0; round < 2; round += 1) {
      await child.start();
      const { pid } = child;
      assert.ok(pid !== undefined && isAlive(pid));
      await child.stop();
      assert.ok(!isAlive(pid));
    }
  });

  it('shows the end of its log when it ends too early', async () => {
    const child = shell('failing', 'echo first; echo no such flag >&2; exit 3', async () => false);
    await assert.rejects(child.start(), /^Error: failing ended before it was ready:\nfirst\nno such flag$/);
  });

  it('fails to start what is not there', async () => {
    const child = new Child({ name: 'missing', executable: path.join(folder, 'missing'), args: [], logFile: path.join(folder, 'missing.log'), ready: async () => false });
    await assert.rejects(child.start(), /missing ended before it was ready/);
  });

  it('is started again when it ends by itself, if so configured', async () => {
    const lines: string[] = [];
    const child = shell('restless', 'exec sleep 60', async () => true, { restart: true, log: (line) => lines.push(line) });
    await child.start();
    const first = child.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await eventually('another process', () => child.pid !== undefined && child.pid !== first);
    assert.match(lines.join(), /^restless ended by itself \(SIGKILL\) and is started again/);
    await child.stop();
    assert.equal(child.pid, undefined);
  });

  it('dies with its parent, even when that is killed', async function () {
    if (process.platform !== 'linux') return this.skip(); // the platform offers nothing for it
    const script = `
      import { readFile } from 'node:fs/promises';
      const { Child } = await import(${JSON.stringify(new URL('child.ts', import.meta.url).href)});
      const child = new Child({ name: 'orphan', executable: '/bin/sleep', args: ['60'], logFile: ${JSON.stringify(path.join(folder, 'orphan.log'))},
        ready: async () => (await readFile(\`/proc/\${child.pid}/comm\`, 'utf8')) === 'sleep\\n' }); // before, it has not asked to die with its parent yet
      await child.start();
      console.log(child.pid);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    assert.ok(isAlive(pid));
    parent.kill('SIGKILL');
    await eventually('the child is gone', () => !isAlive(pid));
  });
});
