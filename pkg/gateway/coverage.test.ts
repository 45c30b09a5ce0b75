import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGateway, TenantGatewayStatus } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { coverageMatter, coverageOf } from './coverage.ts';
import { exampleGateway, exampleModes } from './example.ts';

const withStatus = (spec: Partial<TenantGateway['spec']>, status: TenantGatewayStatus): TenantGateway => ({ ...exampleGateway(spec), status });
const listener = (certificate?: { ready: boolean; reason?: string }) => ({ name: 'https-child-dev', hostname: '*.dev.acme.example.org', ready: true, certificateName: 'cozystack-gateway-tls', ...(certificate && { certificate }) });
const full = { conditions: [{ type: 'Complete', status: 'False' as const, reason: 'ListenerLimitReached', message: '', lastTransitionTime: '2026-11-30T12:00:00Z' }] };

describe('what a tenant is told of the gateway that it uses', () => {
  for (const { name, host = 'dev.acme.example.org', gateway, status, reason, message } of [
    { name: 'it does not exist', gateway: undefined, status: 'False', reason: 'GatewayMissing', message: /tenant-acme\/cozystack/ },
    { name: 'it is being deleted', gateway: exampleGateway({}, { deletionTimestamp: '2026-11-30T12:00:00Z' }), status: 'False', reason: 'GatewayMissing', message: /nothing serves/ },
    { name: 'its host is of another domain', host: 'shop.test', gateway: exampleGateway(), status: 'False', reason: 'OutsideApex', message: /shop\.test does not lie below acme\.example\.org.*spec\.gateway/ },
    { name: 'each host gets a certificate', gateway: exampleGateway(), status: 'True', reason: 'CertificatePerHost', message: /each host/ },
    { name: 'it was not looked at yet', gateway: exampleGateway(exampleModes.dns01), status: 'Unknown', reason: 'Pending', message: /yet/ },
    { name: 'its certificate is there', gateway: withStatus(exampleModes.dns01, { listeners: [listener({ ready: true })] }), status: 'True', reason: 'Covered', message: /cozystack-gateway-tls/ },
    { name: "the operator's certificate serves it", gateway: withStatus(exampleModes.existingSecret, { listeners: [listener()] }), status: 'True', reason: 'Covered', message: /\*\.dev\.acme/ },
    { name: "its domain cannot be proved", gateway: withStatus(exampleModes.dns01, { listeners: [listener({ ready: false, reason: 'DoesNotExist' })] }), status: 'False', reason: 'CertificateNotReady', message: /DoesNotExist.*spec\.gateway/ },
    { name: 'there is no listener left for it', gateway: withStatus(exampleModes.dns01, full), status: 'False', reason: 'ListenerLimitReached', message: /spec\.gateway/ },
  ] as { name: string; host?: string; gateway?: TenantGateway; status: string; reason: string; message: RegExp }[])
    it(`${name}: ${reason}`, () => {
      const said = coverageOf(host, 'tenant-acme/cozystack', gateway);
      assert.deepEqual([said.type, said.status, said.reason], ['HostCovered', status, reason]);
      assert.match(said.message, message);
    });

  it('does not change with what other hosts do', () => {
    const [before, after] = [false, true].map((ready) => withStatus(exampleModes.dns01, { listeners: [listener({ ready: true }), { name: 'https-x', hostname: 'x.acme.example.org', ready }] }));
    assert.deepEqual(coverageMatter(before!), coverageMatter(after!));
  });
});
