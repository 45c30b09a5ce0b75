import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isRunning, type ProcessMark } from '../../hack/start/process-mark.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';

const run = promisify(execFile);
const main = path.resolve(import.meta.dirname, '../../hack/start/main.ts');

/** `npm start` as a process, without npm. */
class Start {
  output = '';
  readonly #process: ChildProcess;
  readonly #ended: Promise<[number | null, string | null]>;

  constructor(directory: string, ...flags: string[]) {
    this.#process = spawn(process.execPath, [main, '--directory', directory, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#ended = once(this.#process, 'close') as Promise<[number | null, string | null]>;
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async says(text: RegExp): Promise<void> {
    let over = false;
    void this.#ended.then(() => (over = true));
    await eventually(`${text} or the end`, () => over || text.test(this.output), { withinMs: 200_000 });
    assert.match(this.output, text);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async end(): Promise<number | null> {
    const [code] = await this.#ended;
    return code;
  }
}

describe('npm start', function () {
  this.timeout(5 * 60_000);
  let directory: string;
  const starts: Start[] = [];
  const start = (...flags: string[]): Start => {
    const started = new Start(directory, ...flags);
    starts.push(started);
    return started;
  };
  const recorded = async (): Promise<Record<string, ProcessMark>> => JSON.parse(await readFile(path.join(directory, 'processes.json'), 'utf8'));
  /** Every one of them has the folder in its arguments. */
  const leftovers = async (): Promise<string[]> => {
    const lines = process.platform === 'linux'
      ? await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
      : (await run('ps', ['-axo', 'command'])).stdout.split('\n');
    return lines.filter((line) => line.includes(directory));
  };
  const nothingRuns = async (): Promise<void> => {
    await eventually('nothing of it runs', async () => (await leftovers()).length === 0, { withinMs: 5000 });
    assert.deepEqual((await readdir(directory)).filter((name) => name === 'lock'), []);
  };

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'start-'));
    atEnd(endAll); // for a run that is interrupted
  });
  const endAll = async (): Promise<void> => {
    for (const started of starts) started.signal('SIGKILL');
    await Promise.all(starts.map((started) => started.end()));
    await eventually('nothing of it runs', async () => (await leftovers()).length === 0);
    await rm(directory, { recursive: true, force: true });
  };
  after(endAll);

  it('stops when interrupted half-way', async () => {
    const started = start();
    await started.says(/ etcd: ready/);
    started.signal('SIGINT');
    assert.equal(await started.end(), 130, started.output);
    assert.match(started.output, /SIGINT: stopping what was started/);
    await nothingRuns();
  });

  const tables = [
    /^\$ kubectl get tenants -A\nNAMESPACE +NAME +READY +NAMESPACE +HOST +GATEWAY +AGE$/m,
    /^tenant-acme +dev +True +tenant-acme-dev +dev\.acme\.example\.org +tenant-acme /m,
    /^tenant-root +acme +True +tenant-acme +acme\.example\.org +tenant-acme /m,
    /^tenant-root +root +True +tenant-root +example\.org +tenant-root /m,
    /^\$ kubectl get tenantgateways -A\nNAMESPACE +NAME +APEX +MODE +READY +AGE$/m,
    /^tenant-acme +cozystack +acme\.example\.org +http01 +False /m,
    /^\$ kubectl get gateways,certificates -A$/m,
    /^tenant-acme +gateway\.gateway\.networking\.k8s\.io\/cozystack +cilium /m,
    /^tenant-acme +certificate\.cert-manager\.io\/cozystack-app-[0-9a-f]{8}-tls /m,
    /^ {2}export KUBECONFIG=\S+\/kubeconfig; PATH=\S+\/bin:\$PATH$/m,
  ];

  it('shows the example tree and ends, if only to check; on what an interrupted start left', async () => {
    const started = start('--check');
    assert.equal(await started.end(), 0, started.output);
    for (const line of tables) assert.match(started.output, line);
    assert.deepEqual(Object.keys(await recorded()).sort(), ['etcd', 'kube-apiserver', 'kube-controller-manager', 'tenant-apiserver']);
    await nothingRuns();
  });

  it('shows the same at the second start, without installing everything again', async () => {
    const started = start('--check');
    assert.equal(await started.end(), 0, started.output);
    for (const line of tables) assert.match(started.output, line);
    assert.doesNotMatch(started.output, /CustomResourceDefinitions/);
    assert.ok(Object.values(await recorded()).every((mark) => !isRunning(mark)));
    await nothingRuns();
  });

  it('runs until interrupted, and leaves nothing', async () => {
    const started = start();
    await started.says(/Ctrl-C stops everything/);
    const line = /^ {2}(export KUBECONFIG=.*)$/m.exec(started.output)![1]!;
    const other = await run('sh', ['-c', `${line}\nkubectl get tenants -n tenant-acme -o name; kubectl get configmap -n kube-system extension-apiserver-authentication -o yaml`]);
    assert.match(other.stdout, /^tenant\.apps\.cozystack\.io\/dev$/m);
    // Each start has authorities of its own; those of earlier ones are trusted no more.
    assert.equal(other.stdout.match(/BEGIN CERTIFICATE/g)?.length, 2);

    const second = start('--check');
    assert.equal(await second.end(), 1);
    assert.equal(second.output, `npm start: another npm start runs already (process ${started.pid}) and has ${directory}; use that one, or end it with Ctrl-C first\n`);

    started.signal('SIGINT');
    started.signal('SIGINT'); // as in a terminal, where npm passes it on
    assert.equal(await started.end(), 0, started.output);
    await nothingRuns();
  });

  it('stops when npm is told to, and leaves nothing', async () => {
    // As npm does it: a shell in between, which alone gets the signal.
    const npm = spawn('sh', ['-c', `'${process.execPath}' '${main}' --directory '${directory}'; true`], { stdio: 'pipe', env: { ...process.env, npm_lifecycle_event: 'start' } });
    let output = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await eventually('it starts', () => / etcd: ready/.test(output), { withinMs: 60_000 });
    npm.kill('SIGTERM');
    await once(npm, 'close'); // output included: it has ended
    assert.match(output, /SIGTERM: stopping what was started/);
    await nothingRuns();
  });

  it('starts after it was killed, and says which of its processes ended', async () => {
    const killed = start();
    await killed.says(/tenant-apiserver: ready/);
    killed.signal('SIGKILL');
    await killed.end();
    const started = start();
    await started.says(/Ctrl-C stops everything/);
    const { 'tenant-apiserver': server } = await recorded();
    assert.ok(server && isRunning(server));
    process.kill(server.pid, 'SIGKILL');
    assert.equal(await started.end(), 1, started.output);
    assert.match(started.output, /^npm start: tenant-apiserver ended by itself; the end of \S+\/logs\/tenant-apiserver\.log:\n\{"level":30,[^]*"msg":"listening"/m);
    await nothingRuns();
  });

  it('says what to do about data that it cannot use', async () => {
    const wal = path.join(directory, 'etcd', 'member', 'wal');
    for (const name of await readdir(wal)) await writeFile(path.join(wal, name), 'broken');
    const broken = start('--check');
    assert.equal(await broken.end(), 1);
    assert.match(broken.output, /npm start: etcd ended before it was ready:[^]*\nIf it is the data of an earlier start that stands in the way: remove \S+ and start again/);

    await writeFile(path.join(directory, 'made-by.json'), '{"layout":1,"kubernetes":"1.20","etcd":"3.4"}');
    const old = start('--check');
    assert.equal(await old.end(), 1);
    assert.match(old.output, /^npm start: the data in \S+ was made by Kubernetes 1\.20 with etcd 3\.4 \(layout 1\), and this is Kubernetes \S+ with etcd \S+ \(layout 1\): remove \S+ and start again/);
    await nothingRuns();
  });
});
