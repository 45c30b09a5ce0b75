import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import { nothing } from './inheritance.ts';
import { moduleParts, modulesVerdict } from './modules.ts';
import type { PartContext } from './part.ts';

const contextOf = (spec: TenantSpec): PartContext => ({
  tenant: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-root', name: 'a', uid: 'a' }, spec },
  namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-a', uid: 'ns-a' } },
  ancestors: ['tenant-root'],
  inherited: nothing,
});

describe('modules of a tenant', () => {
  for (const { spec, names } of [
    { spec: {}, names: ['info'] },
    { spec: { etcd: true, ingress: false }, names: ['info', 'etcd'] },
    { spec: { etcd: true, monitoring: true, ingress: true, seaweedfs: true, computeplane: true, gateway: true }, names: ['info', 'etcd', 'ingress', 'monitoring', 'seaweedfs', 'computeplane'] },
  ]) it(`for ${JSON.stringify(spec)} are ${names.join(', ')}`, () => assert.deepEqual(moduleParts(contextOf(spec)).map(({ desired }) => desired.metadata.name), names));

  it('are HelmReleases as Cozystack makes them', () => {
    const { desired } = moduleParts(contextOf({ etcd: true })).find(({ desired: { metadata } }) => metadata.name === 'etcd')!;
    const remedy = { remediation: { retries: -1 }, strategy: { name: 'RetryOnFailure', retryInterval: '30s' } };
    assert.deepEqual(desired['spec'], {
      chartRef: { kind: 'ExternalArtifact', namespace: 'cozy-system', name: 'cozystack-etcd-application-default-etcd' },
      interval: '5m',
      timeout: '30m',
      valuesFrom: [{ kind: 'Secret', name: 'cozystack-values' }],
      install: remedy,
      upgrade: remedy,
      dependsOn: [{ name: 'victoria-metrics-operator', namespace: 'cozy-victoria-metrics-operator' }],
    });
    assert.equal(desired.metadata.labels!['internal.cozystack.io/tenantmodule'], 'true');
  });

  it('that nothing can provide are told by name', () => {
    const asked = contextOf({ etcd: true, seaweedfs: true });
    const verdict = modulesVerdict(asked, new Set(['module']))!;
    assert.deepEqual([verdict.type, verdict.status, verdict.reason], ['ModulesAvailable', 'False', 'ApiMissing']);
    assert.match(verdict.message, /Nothing can provide etcd, seaweedfs: the cluster does not have helm.toolkit.fluxcd.io\/v2/);
    assert.equal(modulesVerdict(asked, new Set())!.status, 'True');
    assert.equal(modulesVerdict(contextOf({}), new Set(['module'])), undefined);
  });
});
