import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { lineageOf, namespaceOf, tenantOf } from './names.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);

describe('names of tenants', () => {
  for (const { namespace, name, own } of [
    { namespace: 'tenant-root', name: 'root', own: 'tenant-root' },
    { namespace: 'tenant-root', name: 'a', own: 'tenant-a' },
    { namespace: 'tenant-a', name: 'b', own: 'tenant-a-b' },
    { namespace: 'tenant-a-b', name: 'c', own: 'tenant-a-b-c' },
    { namespace: 'tenant-a', name: 'root', own: 'tenant-a-root' },
  ]) {
    it(`${name} in ${namespace} has ${own}, and back`, () => {
      assert.equal(namespaceOf(namespace, name), own);
      assert.deepEqual(tenantOf(own), { namespace, name });
    });
  }

  for (const namespace of ['default', 'tenant', 'tenant-', 'tenant-root-a', 'tenant-A', 'tenant-1', 'mytenant-a', 'tenant-a--b'])
    it(`${namespace} belongs to no tenant`, () => assert.equal(tenantOf(namespace), undefined));

  it('is reversible down any tree', () =>
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (path) => {
        let namespace = 'tenant-root';
        for (const name of path) {
          const own = namespaceOf(namespace, name);
          assert.deepEqual(tenantOf(own), { namespace: namespace === own ? 'tenant-root' : namespace, name });
          namespace = own;
        }
      }),
    ));

  for (const { namespace, lineage } of [
    { namespace: 'tenant-root', lineage: ['tenant-root'] },
    { namespace: 'tenant-a', lineage: ['tenant-root', 'tenant-a'] },
    { namespace: 'tenant-a-b-c', lineage: ['tenant-root', 'tenant-a', 'tenant-a-b', 'tenant-a-b-c'] },
  ]) it(`${namespace} comes down from ${lineage.join(', ')}`, () => assert.deepEqual(lineageOf(namespace), lineage));
});
