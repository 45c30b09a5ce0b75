import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { accessParts } from './access.ts';
import { accessLevels, roleOf, serviceAccountRole } from './access-levels.ts';
import { nothing } from './inheritance.ts';
import type { PartContext } from './part.ts';
import { tenantClusterRoles } from './roles.ts';

const context: PartContext = {
  tenant: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-a', name: 'b', uid: 'b' } },
  namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-a-b', uid: 'ns-b' } },
  ancestors: ['tenant-root', 'tenant-a'],
  inherited: nothing,
};
interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}
const subjectsOf = (binding: string, hasPublicNamespace = false): string[] => {
  const found = accessParts(context, { hasPublicNamespace }).find(({ what, desired }) => what === 'roleBinding' && desired.metadata.name === binding);
  return (found!.desired['subjects'] as Subject[]).map(({ kind, name }) => (kind === 'Group' ? name : `(${name})`));
};

describe('access to a tenant', () => {
  for (const { binding, subjects } of [
    { binding: 'cozy:tenant', subjects: ['(tenant-root)', '(tenant-a)', '(tenant-a-b)'] },
    {
      binding: 'cozy:tenant:view',
      subjects: ['tenant-root', 'tenant-a', 'tenant-a-b'].flatMap((tenant) => [`(${tenant})`, ...accessLevels.map((level) => `${tenant}-${level}`)]),
    },
    { binding: 'cozy:tenant:use', subjects: ['tenant-root-use', 'tenant-root-admin', 'tenant-root-super-admin', 'tenant-a-use', 'tenant-a-admin', 'tenant-a-super-admin', '(tenant-a-b)', 'tenant-a-b-use', 'tenant-a-b-admin', 'tenant-a-b-super-admin'] },
    { binding: 'cozy:tenant:admin', subjects: ['tenant-root-admin', 'tenant-root-super-admin', 'tenant-a-admin', 'tenant-a-super-admin', '(tenant-a-b)', 'tenant-a-b-admin', 'tenant-a-b-super-admin'] },
    { binding: 'cozy:tenant:super-admin', subjects: ['tenant-root-super-admin', 'tenant-a-super-admin', 'tenant-a-b-super-admin'] },
  ]) it(`by ${binding} is that of its own people and of those above`, () => assert.deepEqual(subjectsOf(binding), subjects));

  it('includes what is public, for its own people, where there is such a namespace', () => {
    assert.deepEqual(subjectsOf('cozy:tenant-a-b:dashboard', true), [...accessLevels.map((level) => `tenant-a-b-${level}`), '(tenant-a-b)']);
    assert.ok(accessParts(context, { hasPublicNamespace: false }).every(({ desired }) => desired.metadata.namespace === 'tenant-a-b'));
  });

  it("is never that of a super-admin for a tenant's ServiceAccount, whose token lies in pods", () => {
    const bindings = accessParts(context, { hasPublicNamespace: true }).filter(({ desired }) => desired.kind === 'RoleBinding');
    const roles = new Set(bindings.filter(({ desired }) => (desired['subjects'] as Subject[]).some(({ kind }) => kind === 'ServiceAccount')).map(({ desired }) => (desired['roleRef'] as { name: string }).name));
    assert.ok(!roles.has('cozy:tenant:super-admin'));
    const rules = tenantClusterRoles.filter(({ metadata }) => roles.has(metadata.name!.replace(/:base$/, ''))).flatMap((role) => (role['rules'] ?? []) as { apiGroups: string[]; resources: string[]; verbs: string[] }[]);
    const writing = rules.filter(({ apiGroups, resources, verbs }) => apiGroups.includes('apps.cozystack.io') && ['tenants', '*'].some((each) => resources.includes(each)) && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
    assert.deepEqual(writing, []);
  });

  it('names ClusterRoles that the manifests have', () => {
    const names = new Set(tenantClusterRoles.map(({ metadata }) => metadata.name));
    for (const name of [serviceAccountRole, ...accessLevels.map(roleOf)]) assert.ok(names.has(name) && names.has(`${name}:base`), name);
  });

  it('gives each level what the level before has', () => {
    for (const [index, level] of accessLevels.entries()) {
      const selector = tenantClusterRoles.find(({ metadata }) => metadata.name === roleOf(level))!['aggregationRule'] as { clusterRoleSelectors: { matchLabels: Record<string, string> }[] };
      const [label] = Object.keys(selector.clusterRoleSelectors[0]!.matchLabels);
      const into = tenantClusterRoles.filter(({ metadata }) => metadata.labels?.[label!] === 'true').map(({ metadata }) => metadata.name!);
      assert.deepEqual(into.toSorted(), [`${roleOf(level)}:base`, ...accessLevels.slice(0, index).map(roleOf)].toSorted());
    }
  });

  it('lists no plural that is served by nobody', () => {
    const resources = tenantClusterRoles.flatMap((role) => (role['rules'] ?? []) as { apiGroups: string[]; resources: string[] }[]).filter(({ apiGroups }) => apiGroups.includes('apps.cozystack.io')).flatMap((rule) => rule.resources);
    for (const stale of ['foos', 'virtualmachines']) assert.ok(!resources.includes(stale));
    assert.ok(resources.includes('kubernetesnodeses'));
  });
});
