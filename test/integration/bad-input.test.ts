import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { assertStatus } from './assert-status.ts';
import { apiVersion, bodies, gatewayVersion, requests, validations, type Case, type Place } from './bad-input-cases.ts';
import { makeNamespace } from './cluster.ts';
import { seen, sharedTwin, type Twin } from './twin.ts';

const suites: Record<string, Case[]> = { 'a body': bodies, 'field validation': validations, 'a request': requests };

describe('bad input is refused as the kube-apiserver refuses it', () => {
  let twin: Twin;
  let namespace: string;
  let pid: number | undefined;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    twin = await sharedTwin();
    pid = twin.cluster.server.pid;
    namespace = await makeNamespace(twin.cluster, 'bad-input');
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'live' } });
    await twin.make({ kind: 'TenantGateway', metadata: { namespace, name: 'gateway' }, spec: { apex: 'example.org' } });
  });

  after(() => {
    assert.ok(pid !== undefined && twin.cluster.server.pid === pid, 'no request may end the process');
  });

  const pathOf = (at: Place): string => {
    const collection = at.startsWith('gateway') ? `/apis/${gatewayVersion}/namespaces/${namespace}/tenantgateways` : `/apis/${apiVersion}/namespaces/${namespace}/tenants`;
    return at === 'all' || at === 'gateways' ? collection : `${collection}/${at}`;
  };

  for (const [suite, cases] of Object.entries(suites)) {
    describe(suite, () => {
      for (const { name, at, rest = '', type, accept, code, reason, headers, differs, twinCode, ...request } of cases) {
        it(`${name}: ${code}${reason ? ` ${reason}` : ''}`, async () => {
          const { ours, twin: other } = await twin.requestBoth({
            ...request,
            path: pathOf(at) + rest,
            headers: { ...(type && { 'content-type': type }), ...(accept && { accept }), ...headers },
          });
          assert.equal(ours.status, code);
          if (differs) assert.equal(other.status, twinCode ?? code);
          else assert.deepEqual(seen(ours), seen(other));
          if (code >= 400) assertStatus(ours, reason);
        });
      }
    });
  }
});
