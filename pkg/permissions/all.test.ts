import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { PolicyRule } from '../controller/permissions.ts';
import { permissions, proxyPermissions } from './all.ts';

interface RbacObject {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: PolicyRule[];
  roleRef?: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
}

const rbacObjects = async (folder: string): Promise<RbacObject[]> => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../manifests', folder, 'rbac.yaml'), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as RbacObject);
};

const programs = [
  {
    name: 'tenant-apiserver', folder: 'server', needed: permissions,
    bindings: [
      ['ClusterRoleBinding', undefined, 'ClusterRole', 'system:auth-delegator'],
      ['RoleBinding', 'kube-system', 'Role', 'extension-apiserver-authentication-reader'],
      ['ClusterRoleBinding', undefined, 'ClusterRole', 'tenant-apiserver'],
      ['RoleBinding', 'cozy-system', 'Role', 'tenant-apiserver'],
    ],
  },
  {
    name: 'audit-proxy', folder: 'audit-proxy', needed: proxyPermissions,
    bindings: [
      ['RoleBinding', 'kube-system', 'Role', 'extension-apiserver-authentication-reader'],
      ['ClusterRoleBinding', undefined, 'ClusterRole', 'audit-proxy:impersonate-front'],
      ['ClusterRoleBinding', undefined, 'ClusterRole', 'audit-proxy:impersonate-tenants'],
      ['ClusterRoleBinding', undefined, 'ClusterRole', 'audit-proxy'],
      ['RoleBinding', 'cozy-system', 'Role', 'audit-proxy'],
    ],
  },
];

/** One line for each thing permitted, in order. */
const lines = (rules: readonly PolicyRule[]): string[] => {
  const all = rules.flatMap(({ apiGroups, resources, resourceNames = ['any name'], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource}.${group || 'core'} (${name})`)))));
  return [...new Set(all)].toSorted();
};

for (const { name, folder, needed, bindings: wanted } of programs) {
  describe(`permissions of ${name}`, () => {
    for (const [scope, kind, asked] of [
      ['in the whole cluster', 'ClusterRole', needed.cluster],
      ["in the server's own namespace", 'Role', needed.ownNamespace],
    ] as const) {
      it(`that the manifests grant ${scope} are those that the code names`, async () => {
        const roles = (await rbacObjects(folder)).filter((object) => object.kind === kind);
        const granted = new Set(lines(roles.flatMap(({ rules = [] }) => rules)));
        const all = new Set(lines(asked));
        assert.deepEqual({ missing: [...all.difference(granted)], unused: [...granted.difference(all)] }, { missing: [], unused: [] });
      });
    }

    it('hold no wildcard', async () => {
      const wild = (await rbacObjects(folder)).flatMap(({ rules = [] }) => rules).filter((rule) => Object.values(rule).some((values: readonly string[]) => values.some((value) => value.includes('*'))));
      assert.deepEqual(wild, []);
    });

    it("are given to the program's ServiceAccount alone, through these bindings", async () => {
      const bindings = (await rbacObjects(folder)).filter(({ kind }) => kind.endsWith('Binding'));
      assert.deepEqual(bindings.map(({ kind, metadata: { namespace }, roleRef }) => [kind, namespace, roleRef?.kind, roleRef?.name]), wanted);
      for (const { subjects } of bindings) assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name, namespace: 'cozy-system' }]);
    });
  });
}

describe('the role of audit-proxy for the front', () => {
  it('covers availability probe, discovery and OpenAPI, and nobody else', async () => {
    const role = (await rbacObjects('audit-proxy')).find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'audit-proxy:impersonate-front');
    assert.deepEqual(lines(role?.rules ?? []), ['impersonate groups.core (system:masters)', 'impersonate users.core (system:aggregator)', 'impersonate users.core (system:kube-aggregator)']);
  });
});
