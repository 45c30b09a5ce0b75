import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { accessLevels, groupOf } from './access-levels.ts';
import { clusterPolicySuffixes, collisionOf } from './collisions.ts';
import { namespaceOf } from './names.ts';

describe('names that two tenants would share', () => {
  for (const { namespace, name, computed } of [
    { namespace: 'tenant-acme', name: 'super', computed: 'tenant-acme-super-admin' },
    { namespace: 'tenant-acme', name: 'admin', computed: 'tenant-acme-admin' },
    { namespace: 'tenant-acme', name: 'use', computed: 'tenant-acme-use' },
    { namespace: 'tenant-acme', name: 'view', computed: 'tenant-acme-view' },
    { namespace: 'tenant-acme', name: 'ingress', computed: 'tenant-acme-ingress-ingress' },
    { namespace: 'tenant-acme', name: 'egress', computed: undefined },
    { namespace: 'tenant-acme', name: 'supers', computed: undefined },
    { namespace: 'tenant-root', name: 'super', computed: undefined },
    { namespace: 'tenant-root', name: 'admin', computed: undefined },
    { namespace: 'tenant-root', name: 'root', computed: undefined },
    { namespace: 'tenant-acme', name: 'root', computed: undefined },
  ]) it(`${name} in ${namespace}: ${computed ?? 'none'}`, () => assert.equal(collisionOf(namespace, name)?.computed, computed));

  it('are none among tenants that are let in, wherever they are in the tree', () => {
    const word = fc.constantFrom('a', 'root', 'tenant', 'super', 'admin', 'use', 'view', 'ingress', 'egress', 'etcd', 'virt', 'handler', 'monitoring');
    const place = fc.array(word, { minLength: 1, maxLength: 4 });
    /** Namespaces down a path, as far as every tenant on it is let in. */
    const letIn = (path: string[]): string[] => {
      const namespaces: string[] = ['tenant-root'];
      for (const name of path) {
        const above = namespaces.at(-1)!;
        if (collisionOf(above, name)) break;
        namespaces.push(namespaceOf(above, name));
      }
      return namespaces;
    };
    fc.assert(
      fc.property(fc.array(place, { minLength: 2, maxLength: 6 }), (paths) => {
        const tenants = new Set(paths.flatMap(letIn));
        for (const namesOf of [
          (namespace: string) => [namespace, ...accessLevels.map((level) => groupOf(namespace, level))],
          (namespace: string) => clusterPolicySuffixes.map((suffix) => `${namespace}-${suffix}`),
        ]) {
          const names = [...tenants].flatMap(namesOf);
          assert.equal(new Set(names).size, names.length);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
