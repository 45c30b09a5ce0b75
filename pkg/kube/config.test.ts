import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import { stringify } from 'yaml';
import { inCluster, loadRestConfig } from './config.ts';

const kubeconfig = (cluster: object, user: object): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'there', context: { cluster: 'no', user: 'no' } }, { name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('loadRestConfig', () => {
  let folder: string;
  const write = async (name: string, text: string): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  };
  before(async () => (folder = await mkdtemp(path.join(tmpdir(), 'kubeconfig-'))));
  after(() => rm(folder, { recursive: true }));

  it('takes data from the file itself', async () => {
    const file = await write('data', kubeconfig({ 'certificate-authority-data': base64('CA'), 'tls-server-name': 'name' }, { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') }));
    const { token, server, ...config } = await loadRestConfig(file);
    assert.deepEqual(config, { serverName: 'name', insecureSkipVerify: false, ca: 'CA', cert: 'CERT', key: 'KEY' });
    assert.equal(server.href, 'https://10.0.0.1:6443/');
    assert.equal(await token(), undefined);
  });

  it('takes files beside it, and the token of the day', async () => {
    await write('ca.crt', 'CA');
    await write('token', 'secret\n');
    const config = await loadRestConfig(await write('files', kubeconfig({ 'certificate-authority': 'ca.crt' }, { tokenFile: 'token' })));
    assert.equal(config.ca, 'CA');
    assert.equal(await config.token(), 'secret');
  });

  for (const [what, text, expected] of [
    ['no context', 'apiVersion: v1\nkind: Config\n', /no current context/],
    ['nothing', '', /no current context/],
    ['a plugin', kubeconfig({}, { exec: { command: 'x' } }), /plugin/],
  ] as const) {
    it(`refuses ${what}`, async () => assert.rejects(loadRestConfig(await write('bad', text)), expected));
  }

  it('finds the cluster of a pod, also by an IPv6 address', async () => {
    await write('ca.crt', 'CA');
    await write('token', 'secret');
    const config = await inCluster(folder, { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' });
    assert.equal(config.server.href, 'https://[fd00::1]/');
    assert.equal(await config.token(), 'secret');
  });

  it('says what to do outside of a pod', async () => assert.rejects(inCluster(folder, {}), /--kubeconfig/));
});
