import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { Registry } from 'prom-client';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { Informer, type InformerSource } from '../controller/informer.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { exampleGateway } from './example.ts';
import { GatewayMetrics } from './metrics.ts';
import type { Certificate } from './types.ts';

const holding = <T extends KubeObject>(...objects: T[]): Informer<T> => {
  const source: InformerSource = (handler) => {
    handler.replace(objects, '1');
    return () => Promise.resolve();
  };
  const informer = new Informer<T>(source);
  informer.start();
  return informer;
};
const certificate = (name: string, ...conditions: string[]): Certificate => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { namespace: 'tenant-acme', name, uid: name },
  status: { conditions: conditions.map((type) => ({ type, status: 'True', reason: type, message: '', lastTransitionTime: '2026-11-30T12:00:00Z' })) },
});

describe('metrics of gateways', () => {
  it('count listeners and certificates by state, while this replica leads', async () => {
    const registry = new Registry();
    const metrics = new GatewayMetrics(registry);
    const listeners = [{ name: 'http', ready: true }, { name: 'https', ready: true }, { name: 'https-x', ready: false, reason: 'Pending' }];
    const end = metrics.begin({
      tenantGateways: holding<TenantGateway>({ ...exampleGateway(), status: { listeners } }),
      certificates: holding(certificate('a', 'Ready'), certificate('b', 'Issuing'), certificate('c')),
      budget: () => [{ issuer: 'letsencrypt-prod', domain: 'example.org', left: 47 }],
    });
    const samples = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => line && !line.startsWith('#'));
    assert.deepEqual(await samples(), [
      'tenant_apiserver_gateway_listeners{state="ready"} 2',
      'tenant_apiserver_gateway_listeners{state="not_ready"} 1',
      'tenant_apiserver_gateway_certificates{state="ready"} 1',
      'tenant_apiserver_gateway_certificates{state="issuing"} 1',
      'tenant_apiserver_gateway_certificates{state="waiting"} 1',
      'tenant_apiserver_gateway_certificate_budget{issuer="letsencrypt-prod",domain="example.org"} 47',
    ]);
    end();
    assert.deepEqual(await samples(), []);
  });
});
