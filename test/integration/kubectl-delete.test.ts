import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { eventually } from '../poll.ts';
import { makeNamespace } from './cluster.ts';
import { collectorPatience } from './collector-world.ts';
import { sharedTwin, type Twin } from './twin.ts';

const resource = 'tenants.apps.cozystack.io';
const twinResource = 'tenants.apps.twinned.test';
const manifest = (namespace: string, name: string, metadata: object = {}): string =>
  JSON.stringify({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name, ...metadata } });

describe('kubectl watches, waits and deletes', () => {
  let twin: Twin;
  let namespace: string;
  const create = (name: string, metadata: object = {}): Promise<string> => twin.sameOutput(['create', '-f', '-'], { input: manifest(namespace, name, metadata) });
  const there = async (of: string, name: string): Promise<boolean> => (await twin.cluster.kubectl.try(['get', of, name, '-n', namespace])).code === 0;

  before(async function () {
    this.timeout(120_000);
    twin = await sharedTwin();
    namespace = await makeNamespace(twin.cluster, 'delete');
  });

  it('get -w sees an object come, change and go', async () => {
    const { kubectlPath, kubeconfigPath } = twin.cluster.controlPlane;
    const watch = (of: string) => {
      const child = spawn(kubectlPath, ['--kubeconfig', kubeconfigPath, 'get', of, '-n', namespace, '-w', '--output-watch-events', '-L', 'step']);
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
      const lines = (): string[][] => text.split('\n').filter(Boolean).map((line) => line.trim().split(/ +/)).map((cells) => [cells[0]!, cells[1]!, cells.at(-1)!]);
      // A status that is written, and an end that waits for the loop, modify ours without changing these columns.
      const news = ([event, ...cells]: string[], before: string[] | undefined): boolean => event !== 'MODIFIED' || before?.slice(1).join() !== cells.join();
      const seen = (): string[] => lines().filter((line, at, all) => news(line, all[at - 1])).map((cells) => cells.join(' '));
      return { child, seen };
    };
    await create('before', { labels: { step: '0' } });
    const watches = [watch(resource), watch(twinResource)];
    try {
      for (const { seen } of watches) await eventually('the watch is open', () => seen().some((line) => line.includes('before')));
      await create('seen', { labels: { step: '1' } });
      await twin.sameOutput(['label', resource, 'seen', 'step=2', '--overwrite', '-n', namespace]);
      await twin.sameOutput(['delete', resource, 'seen', '-n', namespace]);
      const expected = ['EVENT NAME STEP', 'ADDED before 0', 'ADDED seen 1', 'MODIFIED seen 2', 'DELETED seen 2'];
      for (const { seen } of watches) await eventually(`the watch shows all`, () => seen().length >= expected.length).then(() => assert.deepEqual(seen(), expected));
    } finally {
      for (const { child } of watches) child.kill('SIGKILL');
    }
  });

  it('wait for a condition, for a value, and in vain', async () => {
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'waited' } });
    for (const condition of ['condition=Ready=False', 'jsonpath={.metadata.name}=waited', "jsonpath={.status.conditions[?(@.type=='Ready')].reason}=ParentNotFound", 'create']) {
      await twin.sameOutput(['wait', `${resource}/waited`, `--for=${condition}`, '--timeout=20s', '-n', namespace]);
    }
    const vain = await twin.same(['wait', `${resource}/waited`, '--for=condition=Ready', '--timeout=1s', '-n', namespace]);
    assert.equal(vain.code, 1);
    assert.match(vain.stderr, /timed out waiting/);
    assert.equal((await twin.same(['wait', `${resource}/missing`, '--for=condition=Ready', '--timeout=1s', '-n', namespace])).code, 1);
  });

  it('wait for the end', async () => {
    await create('ending');
    const waits = Promise.all([resource, twinResource].map((of) => twin.cluster.kubectl.run(['wait', `${of}/ending`, '--for=delete', '--timeout=30s', '-n', namespace])));
    await twin.sameOutput(['delete', resource, 'ending', '--wait=false', '-n', namespace]);
    await waits;
    assert.equal(await there(resource, 'ending'), false);
  });

  it('a tenant becomes Ready, and its namespace goes with it', async function () {
    this.timeout(120_000);
    const { kubectl } = twin.cluster;
    const root = await kubectl.try(['create', '-f', '-'], { input: manifest('tenant-root', 'root') });
    assert.ok(root.code === 0 || root.stderr.includes('AlreadyExists'), root.stderr);
    const name = `ready${process.pid}`;
    await kubectl.run(['create', '-f', '-'], { input: manifest('tenant-root', name) });
    assert.match(await kubectl.run(['wait', `${resource}/${name}`, '--for=condition=Ready', '--timeout=50s', '-n', 'tenant-root']), /condition met/);
    assert.match(await kubectl.run(['get', resource, name, '-n', 'tenant-root']), new RegExp(`^${name} +True +tenant-${name} `, 'm'));
    await kubectl.run(['get', 'namespace', `tenant-${name}`]);
    await kubectl.run(['delete', resource, name, '-n', 'tenant-root', '--timeout=50s']);
    assert.equal((await kubectl.try(['get', 'namespace', `tenant-${name}`])).code, 1);
  });

  for (const { cascade, stays } of [
    { cascade: 'foreground', stays: false },
    { cascade: 'background', stays: false },
    { cascade: 'orphan', stays: true },
  ]) {
    it(`delete --cascade=${cascade}: what the tenant owns ${stays ? 'stays, without owner' : 'goes'}`, async function () {
      this.timeout(240_000);
      const { kubectl } = twin.cluster;
      await create(cascade);
      const owned = async (of: string, version: string): Promise<string> => {
        const uid = await kubectl.run(['get', of, cascade, '-n', namespace, '-o', 'jsonpath={.metadata.uid}']);
        const name = `${cascade}-${version.split('.')[1]}`;
        const ownerReferences = [{ apiVersion: version, kind: 'Tenant', name: cascade, uid, blockOwnerDeletion: true }];
        await kubectl.run(['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, ownerReferences } }) });
        return name;
      };
      const configMaps = [await owned(resource, 'apps.cozystack.io/v1alpha1'), await owned(twinResource, 'apps.twinned.test/v1alpha1')];
      await twin.sameOutput(['delete', resource, cascade, `--cascade=${cascade}`, '-n', namespace, '--timeout=90s']);
      assert.equal(await there(resource, cascade), false);
      for (const name of configMaps) {
        if (!stays) await eventually(`configmap ${name} is gone`, async () => !(await there('configmap', name)), collectorPatience);
        else assert.equal(await kubectl.run(['get', 'configmap', name, '-n', namespace, '-o', 'jsonpath={.metadata.ownerReferences}']), '');
      }
    });
  }

  it('delete by label, then all', async () => {
    for (const [name, tier] of [['one', 'a'], ['two', 'a'], ['three', 'b']] as const) await create(name, { labels: { tier } });
    const deleted = await twin.sameOutput(['delete', resource, '-l', 'tier=a', '-n', namespace]);
    assert.deepEqual(deleted.match(/"\w+"/g), ['"one"', '"two"']);
    assert.equal(await there(resource, 'three'), true);
    await twin.sameOutput(['delete', resource, '--all', '-n', namespace]);
    await twin.sameOutput(['get', resource, '-n', namespace, '-o', 'name']);
    assert.equal(await there(resource, 'three'), false);
  });

  for (const { args, code } of [
    { args: ['missing'], code: 1 },
    { args: ['missing', '--ignore-not-found'], code: 0 },
    { args: ['-l', 'none=such'], code: 0 },
    { args: ['--all'], code: 0 },
  ]) {
    it(`delete ${args.join(' ')} where nothing is`, async () => {
      assert.equal((await twin.same(['delete', resource, ...args, '-n', namespace])).code, code);
    });
  }

  it('a collection is deleted by one request, which lists what went', async () => {
    for (const name of ['first', 'second']) await create(name, { labels: { batch: '1' } });
    await create('other');
    const path = `/apis/apps.cozystack.io/v1alpha1/namespaces/${namespace}/tenants?labelSelector=batch%3D1`;
    const { ours, twin: theirs } = await twin.requestBoth({ method: 'DELETE', path });
    const names = ({ text }: { text: string }): string[] => JSON.parse(text).items.map((item: any) => item.metadata.name);
    assert.deepEqual([ours.status, names(ours)], [theirs.status, names(theirs)]);
    await eventually('both are gone', async () => !(await there(resource, 'first')) && !(await there(resource, 'second')));
    assert.equal(await there(resource, 'other'), true);
  });
});
