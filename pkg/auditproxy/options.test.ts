import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import { Flags } from '../server/flags.ts';
import { ProxyOptions } from './options.ts';

describe('ProxyOptions', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'proxy-options-'));
  });
  after(() => rm(folder, { recursive: true }));

  const loaded = async (args: string[], file?: string): Promise<ProxyOptions> => {
    const options = new ProxyOptions();
    const flags = new Flags();
    options.addFlags(flags);
    const config = path.join(folder, 'config.yaml');
    if (file !== undefined) await writeFile(config, file);
    flags.parse([...(file === undefined ? [] : [`--config=${config}`]), ...args]);
    await options.load();
    return options;
  };
  const enough = ['--backend-url=https://a:1', '--audit-log-path=-'];

  it('are named as the case study names them', () => {
    const paths = new ProxyOptions().options.map(({ path: at }) => at);
    for (const known of [
      'backend.url', 'backend.identity.mode', 'backend.identity.impersonation.tokenFile', 'backend.identity.impersonation.forwardUid', 'backend.identity.impersonation.extras.mode',
      'backend.identity.impersonation.extras.allowlist', 'backend.tls.insecureSkipVerify', 'backend.tls.caSecretName', 'backend.tls.serverName', 'server.tls.mode',
    ]) assert.ok(paths.includes(known), known);
    assert.equal(new Set(paths).size, paths.length);
  });
  it('come from the file, and from flags before it', async () => {
    const options = await loaded(['--server-port=2'], 'server: { port: 1 }\nbackend:\n  identity: { impersonation: { forwardUid: true, extras: { mode: allowlist, allowlist: [a, b] } } }\naudit: { maxBodyBytes: 5, policyFile: p, webhookBatchMaxSize: 3 }');
    assert.deepEqual([options.port, options.forwardUid, options.extrasMode, options.extrasAllowlist, options.maxBodyBytes], [2, true, 'allowlist', 'a,b', 5]);
  });
  it('name the file in what is wrong with it', () => assert.rejects(loaded([], 'backend: { ulr: x }'), /config file .*config\.yaml: backend\.ulr: unknown field; known in backend are url, /));
  it('are enough with a backend and a place for events', async () => assert.deepEqual((await loaded(enough)).validate(), []));
  for (const { args, fault } of [
    { args: ['--backend-url='], fault: /^backend\.url is required/ },
    { args: ['--backend-url=x'], fault: /is no URL/ },
    { args: ['--backend-url=http://a'], fault: /https/ },
    { args: ['--backend-url=https://u:p@a'], fault: /no user/ },
    { args: ['--server-port=65536'], fault: /server\.port/ },
    { args: ['--server-tls-mode=acme'], fault: /server\.tls\.mode must be one of self-signed, cert-manager, existing-secret, not "acme"/ },
    { args: ['--server-tls-mode=cert-manager'], fault: /needs server\.tls\.certFile/ },
    { args: ['--server-tls-cert-file=a'], fault: /are for the modes cert-manager and existing-secret/ },
    { args: ['--backend-identity-mode=passthrough'], fault: /must be one of impersonation/ },
    { args: ['--backend-identity-impersonation-extras-mode=some'], fault: /none, allowlist, all/ },
    { args: ['--backend-identity-impersonation-extras-mode=allowlist'], fault: /needs at least one key/ },
    { args: ['--backend-identity-impersonation-extras-allowlist=a'], fault: /goes with mode allowlist/ },
    { args: ['--backend-tls-ca-file=a', '--backend-tls-ca-secret-name=b'], fault: /exclude each other/ },
    { args: ['--backend-tls-ca-file=a', '--backend-tls-insecure-skip-verify'], fault: /useless/ },
    { args: ['--log-level=loud'], fault: /logLevel must be one of/ },
    { args: ['--audit-log-mode=blocking'], fault: /--audit-log-mode must be one of batch/ },
  ]) {
    it(`refuse ${args.join(' ')}`, async () => {
      const faults = (await loaded([...enough, ...args])).validate();
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0]!, fault);
    });
  }
  it('refuse to record nothing', async () => assert.match((await loaded(['--backend-url=https://a'])).validate().join(), /the audit policy needs somewhere to write to/));
});
