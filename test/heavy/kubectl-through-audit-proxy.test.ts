import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { proxyAccount } from '../../hack/local/audit-proxy.ts';
import { Proxied } from '../e2e/audit-proxy/proxied.ts';
import { putInFront } from '../integration/cluster.ts';

let proxied: Proxied | undefined;

// before any of the suites asks for the cluster
putInFront(async (cluster) => {
  proxied = await Proxied.beside(cluster);
  await proxied.start();
  await proxied.handOver();
  await proxied.available();
});

for (const suite of ['access', 'delete', 'read', 'write']) await import(`../integration/kubectl-${suite}.test.ts`);

describe('audit-proxy, after the suites of kubectl', () => {
  it('has recorded what they changed, and never itself', async () => {
    const events = await proxied!.events();
    assert.deepEqual([...new Set(events.map(({ verb }) => verb))].toSorted(), ['create', 'delete', 'deletecollection', 'patch', 'update']);
    assert.ok(events.every(({ user }) => user.username !== proxyAccount));
  });
});
