import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'mocha';
import { defaultTenantSettings } from './settings.ts';
import { Flags } from '../server/flags.ts';
import { TenantOptions } from './options.ts';

const parsed = (...args: string[]): TenantOptions => {
  const flags = new Flags();
  const options = new TenantOptions();
  options.addFlags(flags);
  flags.parse(args);
  return options;
};

describe('TenantOptions', () => {
  it('are the defaults where nothing is given', async () => assert.deepEqual(await parsed().complete(), defaultTenantSettings));

  for (const { flag, fault } of [
    { flag: '--cpu-allocation-ratio=2.5', fault: undefined },
    { flag: '--cpu-allocation-ratio=0', fault: /--cpu-allocation-ratio must be a number above 0/ },
    { flag: '--memory-allocation-ratio=-1', fault: /--memory-allocation-ratio/ },
    { flag: '--ephemeral-storage-allocation-ratio=much', fault: /--ephemeral-storage-allocation-ratio/ },
    { flag: '--pod-security-enforce=privileged', fault: undefined },
    { flag: '--pod-security-warn=strict', fault: /one of privileged, baseline, restricted/ },
    { flag: '--internal-network=10.244.0.0/16', fault: undefined },
    { flag: '--internal-network=fd00::/64', fault: undefined },
    { flag: '--internal-network=0.0.0.0/0', fault: /less than all addresses/ },
    { flag: '--internal-network=10.0.0.0/33', fault: /must be a CIDR/ },
    { flag: '--internal-network=10.0.0.0', fault: /must be a CIDR/ },
  ]) {
    it(`${flag} is ${fault ? 'refused' : 'taken'}`, () => {
      const [first] = parsed(flag).validate();
      if (fault) assert.match(first!, fault);
      else assert.equal(first, undefined);
    });
  }

  it('replace the list of networks', async () => assert.deepEqual((await parsed('--internal-network=10.1.0.0/16', '--internal-network=10.2.0.0/16').complete()).internalNetworks, ['10.1.0.0/16', '10.2.0.0/16']));

  it('read the values of the cluster, and refuse what is no map', async () => {
    const file = path.join(tmpdir(), `cluster-values-${process.pid}.yaml`);
    try {
      await writeFile(file, 'root-host: example.org\noidc-enabled: "true"\n');
      assert.deepEqual((await parsed(`--cluster-values=${file}`).complete()).clusterValues, { 'root-host': 'example.org', 'oidc-enabled': 'true' });
      await writeFile(file, '- a\n');
      await assert.rejects(parsed(`--cluster-values=${file}`).complete(), /holds no map/);
    } finally {
      await rm(file, { force: true });
    }
  });
});
