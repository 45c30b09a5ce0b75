import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import { nothing } from './inheritance.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { moduleParts, modulesVerdict, releaseStatus, type ModulesSeen } from './modules.ts';
import { partKey, type PartContext, type PartKind } from './part.ts';

const contextOf = (spec: TenantSpec): PartContext => ({
  tenant: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-root', name: 'a', uid: 'a' }, spec },
  namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-a', uid: 'ns-a' } },
  ancestors: ['tenant-root'],
  inherited: nothing,
});

const seen = ({ tenant }: PartContext, { missing = [], releases = [] }: { missing?: PartKind[]; releases?: KubeObject[] }): ModulesSeen => ({
  tenant,
  made: new Map(releases.map((object) => [partKey('module', object), { object }])),
  surroundings: { missing: new Set(missing) },
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
    const verdict = modulesVerdict(seen(asked, { missing: ['module'] }))!;
    assert.deepEqual([verdict.type, verdict.status, verdict.reason], ['ModulesAvailable', 'False', 'ModulesUnavailable']);
    assert.match(verdict.message, /Nothing can provide etcd, seaweedfs: the cluster does not have helm.toolkit.fluxcd.io\/v2/);
    assert.equal(modulesVerdict(seen(contextOf({}), { missing: ['module'] })), undefined);
  });

  const release = (name: string, ready?: object): KubeObject => ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name, namespace: 'tenant-a', generation: 2 },
    ...(ready && { status: { conditions: [{ type: 'Released', status: 'True' }, { type: 'Ready', ...ready }] } }),
  });
  for (const { name, releases, says } of [
    { name: 'are there when their HelmReleases are ready', releases: [release('etcd', { status: 'True' }), release('seaweedfs', { status: 'True', observedGeneration: 2 })], says: 'Has etcd, seaweedfs' },
    { name: 'that Flux has not looked at are waited for', releases: [release('etcd', { status: 'True' }), release('seaweedfs')], says: 'Not there yet: seaweedfs (its HelmRelease waits for Flux)' },
    { name: 'that changed since are waited for', releases: [release('etcd', { status: 'True', observedGeneration: 1 }), release('seaweedfs', { status: 'True' })], says: 'Not there yet: etcd (its HelmRelease waits for Flux)' },
    { name: "that fail are told in Flux's words", releases: [release('etcd', { status: 'False', message: 'install retries exhausted' }), release('seaweedfs', { status: 'True' })], says: 'Not there yet: etcd (install retries exhausted)' },
    { name: 'that are not made yet are waited for', releases: [], says: 'Not there yet: etcd (its HelmRelease waits for Flux); seaweedfs (its HelmRelease waits for Flux)' },
  ]) {
    it(name, () => {
      const verdict = modulesVerdict(seen(contextOf({ etcd: true, seaweedfs: true }), { releases }));
      assert.deepEqual([verdict?.message, verdict?.status], [says, says.startsWith('Has') ? 'True' : 'False']);
    });
  }

  it('are looked at by what tells whether they are ready, and no more', () => {
    const full = { ...release('etcd', { status: 'False', message: 'no', reason: 'X', observedGeneration: 1 }), status: { history: ['long'], conditions: [{ type: 'Ready', status: 'False', message: 'no', observedGeneration: 1 }] } };
    assert.deepEqual(releaseStatus(full), { conditions: [{ type: 'Ready', status: 'False', message: 'no', observedGeneration: 1 }] });
    assert.equal(releaseStatus(release('etcd')), undefined);
  });
});
