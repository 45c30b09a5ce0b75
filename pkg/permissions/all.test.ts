import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { PolicyRule } from '../controller/permissions.ts';
import { permissions } from './all.ts';

interface RbacObject {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: PolicyRule[];
  roleRef?: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
}

const rbacObjects = async (): Promise<RbacObject[]> => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../manifests/server/rbac.yaml'), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as RbacObject);
};

/** One line for each thing permitted, in order. */
const lines = (rules: readonly PolicyRule[]): string[] => {
  const all = rules.flatMap(({ apiGroups, resources, resourceNames = ['any name'], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource}.${group || 'core'} (${name})`)))));
  return [...new Set(all)].toSorted();
};

describe('permissions', () => {
  for (const [scope, kind, needed] of [
    ['in the whole cluster', 'ClusterRole', permissions.cluster],
    ["in the server's own namespace", 'Role', permissions.ownNamespace],
  ] as const) {
    it(`that the manifests grant ${scope} are those that the code names`, async () => {
      const roles = (await rbacObjects()).filter((object) => object.kind === kind);
      const granted = new Set(lines(roles.flatMap(({ rules = [] }) => rules)));
      const wanted = new Set(lines(needed));
      assert.deepEqual({ missing: [...wanted.difference(granted)], unused: [...granted.difference(wanted)] }, { missing: [], unused: [] });
    });
  }

  it('hold no wildcard', async () => {
    const wild = (await rbacObjects()).flatMap(({ rules = [] }) => rules).filter((rule) => Object.values(rule).some((values: readonly string[]) => values.some((value) => value.includes('*'))));
    assert.deepEqual(wild, []);
  });

  it("are given to the server's ServiceAccount alone, through these bindings", async () => {
    const bindings = (await rbacObjects()).filter(({ kind }) => kind.endsWith('Binding'));
    assert.deepEqual(
      bindings.map(({ kind, metadata: { namespace }, roleRef }) => [kind, namespace, roleRef?.kind, roleRef?.name]),
      [
        ['ClusterRoleBinding', undefined, 'ClusterRole', 'system:auth-delegator'],
        ['RoleBinding', 'kube-system', 'Role', 'extension-apiserver-authentication-reader'],
        ['ClusterRoleBinding', undefined, 'ClusterRole', 'tenant-apiserver'],
        ['RoleBinding', 'cozy-system', 'Role', 'tenant-apiserver'],
      ],
    );
    for (const { subjects } of bindings) assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name: 'tenant-apiserver', namespace: 'cozy-system' }]);
  });
});
