import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { attachManager, attachmentOf, listedBy } from './attach.ts';

const attach = (owner: string): string => `attach.gateway.cozystack.io/${owner}`;
const compatible = 'namespace.cozystack.io/gateway';

/** A namespace with labels of ours, written before, and of others. */
const namespace = (ours: Record<string, string>, others: Record<string, string> = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: 'cozy-harbor',
    labels: { ...others, ...ours },
    managedFields: Object.keys(ours).length > 0 ? [{ manager: attachManager, operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:metadata': { 'f:labels': Object.fromEntries(Object.keys(ours).map((key) => [`f:${key}`, {}])) } } }] : [],
    ...metadata,
  },
});

/** What the namespace is after an apply, as the kube-apiserver does it: what we owned and no longer send goes. */
const applied = (before: KubeObject, desired: KubeObject | undefined): KubeObject => {
  if (!desired) return before;
  const owned = Object.keys(((before.metadata.managedFields?.[0]?.fieldsV1?.['f:metadata'] as { 'f:labels'?: object } | undefined)?.['f:labels'] ?? {})).map((key) => key.slice(2));
  const others = Object.fromEntries(Object.entries(before.metadata.labels ?? {}).filter(([key]) => !owned.includes(key)));
  return namespace(desired.metadata.labels ?? {}, others);
};

describe('labels of an attached namespace', () => {
  for (const { name, before, owners, wanted } of [
    { name: 'are a key for each gateway, and the first of them under the one that others select on', before: namespace({}), owners: ['tenant-b', 'tenant-a'], wanted: { [attach('tenant-a')]: '', [attach('tenant-b')]: '', [compatible]: 'tenant-a' } },
    { name: 'leave the compatible one with who has it', before: namespace({ [attach('tenant-b')]: '', [compatible]: 'tenant-b' }), owners: ['tenant-a', 'tenant-b'], wanted: { [attach('tenant-a')]: '', [attach('tenant-b')]: '', [compatible]: 'tenant-b' } },
    { name: 'hand the compatible one on when who had it goes', before: namespace({ [attach('tenant-b')]: '', [compatible]: 'tenant-b' }), owners: ['tenant-c'], wanted: { [attach('tenant-c')]: '', [compatible]: 'tenant-c' } },
    { name: 'leave a compatible one that somebody else wrote', before: namespace({}, { [compatible]: 'tenant-z' }), owners: ['tenant-a'], wanted: { [attach('tenant-a')]: '', [compatible]: 'tenant-z' } },
    { name: 'go with the last gateway, and nothing else does', before: namespace({ [attach('tenant-a')]: '', [compatible]: 'tenant-a' }, { [attach('tenant-x')]: '', theirs: 'stays' }), owners: [], wanted: { [attach('tenant-x')]: '', theirs: 'stays' } },
    { name: 'are put back where somebody changed one', before: namespace({ [attach('tenant-a')]: 'no', [compatible]: 'tenant-a' }), owners: ['tenant-a'], wanted: { [attach('tenant-a')]: '', [compatible]: 'tenant-a' } },
    { name: "are left to its tenant on a gateway's own namespace", before: namespace({}, { [attach('cozy-harbor')]: '', [compatible]: 'cozy-harbor' }), owners: ['cozy-harbor'], wanted: { [attach('cozy-harbor')]: '', [compatible]: 'cozy-harbor' } },
    { name: "are written on a gateway's own namespace that no tenant sees to", before: namespace({}), owners: ['cozy-harbor'], wanted: { [attach('cozy-harbor')]: '', [compatible]: 'cozy-harbor' } },
    { name: 'are not written on a namespace that ends', before: namespace({}, {}, { deletionTimestamp: '2026-11-30T12:00:00Z' }), owners: ['tenant-a'], wanted: {} },
  ])
    it(name, () => {
      const after = applied(before, attachmentOf(before, owners));
      assert.deepEqual(after.metadata.labels, wanted);
      assert.equal(attachmentOf(after, owners), undefined);
    });

  it('come to rest, whatever lists the namespace and however often that changes', () => {
    const owners = fc.uniqueArray(fc.constantFrom<string[]>('tenant-root', 'tenant-a', 'tenant-b', 'tenant-c'));
    fc.assert(
      fc.property(fc.array(owners, { minLength: 1, maxLength: 6 }), fc.option(fc.constant('tenant-z'), { nil: undefined }), (history, foreign) => {
        let seen = namespace({}, { theirs: 'stays', ...(foreign && { [compatible]: foreign }) });
        for (const listing of history) {
          seen = applied(seen, attachmentOf(seen, listing));
          assert.equal(attachmentOf(seen, listing.toReversed()), undefined);
        }
        const listing = history.at(-1)!;
        const { [compatible]: named, theirs, ...keys } = seen.metadata.labels!;
        assert.deepEqual(Object.keys(keys).toSorted(), listing.map(attach).toSorted());
        assert.equal(theirs, 'stays');
        assert.ok(foreign ? named === foreign : listing.length > 0 ? listing.includes(named!) : named === undefined);
      }),
    );
  });

  it('are for no namespace of a tenant, which attaches by its place in the tree', () => {
    assert.deepEqual(listedBy({ spec: { apex: 'example.org', attachedNamespaces: ['cozy-harbor', 'tenant-evil', '', 'cozy-harbor', 'default'] } }), ['cozy-harbor', 'default']);
  });
});
