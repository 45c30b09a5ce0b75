import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning, markOf } from './process-mark.ts';
import { RunFolder } from './run-folder.ts';

const versions = { kubernetes: '1.37.2', etcd: '3.6.5' };
const silent = (): void => {};

describe('run folder', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'run-folder-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('belongs to one process at a time, and to nobody when that is gone', async () => {
    const holder = spawn('sleep', ['60']);
    const lock = path.join(directory, 'lock');
    await writeFile(lock, JSON.stringify(markOf(holder.pid!)));
    await assert.rejects(RunFolder.take(directory, silent), new RegExp(`another npm start runs already \\(process ${holder.pid}\\)`));
    holder.kill('SIGKILL');
    await once(holder, 'close');
    await RunFolder.take(directory, silent);
    assert.equal(JSON.parse(await readFile(lock, 'utf8')).pid, process.pid);
  });

  it('is not held by another process that got the same id, nor by a lock that is broken', async function () {
    if (process.platform !== 'linux') return this.skip(); // start times are not known
    for (const content of [JSON.stringify({ pid: process.ppid, startedAt: '1' }), '{"pi']) {
      await writeFile(path.join(directory, 'lock'), content);
      await RunFolder.take(directory, silent);
    }
  });

  it('ends what a killed start left running', async function () {
    if (process.platform !== 'linux') return this.skip(); // start times are not known
    const [left, stranger] = [spawn('sleep', ['60']), spawn('sleep', ['60'])];
    await writeFile(path.join(directory, 'processes.json'), JSON.stringify({ etcd: markOf(left.pid!), other: { ...markOf(stranger.pid!), startedAt: '1' } }));
    const lines: string[] = [];
    await RunFolder.take(directory, (line) => lines.push(line));
    assert.deepEqual(lines, [`etcd of an earlier start still runs (process ${left.pid}) and is ended`]);
    assert.deepEqual([isRunning(markOf(left.pid!)), isRunning(markOf(stranger.pid!))], [false, true]);
    stranger.kill('SIGKILL');
  });

  it('takes data of the same minor versions, and no other', async () => {
    await (await RunFolder.take(directory, silent)).claim(versions);
    await mkdir(path.join(directory, 'etcd'));
    const kept = await RunFolder.take(directory, silent);
    assert.ok(kept.kept);
    await kept.claim({ ...versions, kubernetes: '1.37.9' });
    await assert.rejects(kept.claim({ ...versions, kubernetes: '1.36.4' }), {
      message: `the data in ${directory} was made by Kubernetes 1.37 with etcd 3.6 (layout 1), and this is Kubernetes 1.36 with etcd 3.6 (layout 1): `
        + `remove ${directory} and start again (this deletes the cluster in it; the example tree is made anew)`,
    });
    await rm(path.join(directory, 'made-by.json'));
    await assert.rejects(kept.claim(versions), /was made by something unknown/);
  });

  it('keeps one former log of each, and points at kubectl', async () => {
    for (const content of ['first', 'second', 'third']) {
      const folder = await RunFolder.take(directory, silent);
      await writeFile(path.join(folder.logs, 'etcd.log'), content);
      await folder.linkKubectl(`/opt/${content}/kubectl`);
    }
    assert.deepEqual((await readdir(path.join(directory, 'logs'))).sort(), ['etcd.former.log', 'etcd.log']);
    assert.equal(await readFile(path.join(directory, 'logs', 'etcd.former.log'), 'utf8'), 'second');
    assert.equal(await readlink(path.join(directory, 'bin', 'kubectl')), '/opt/third/kubectl');
  });
});
