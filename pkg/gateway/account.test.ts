import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { withIssuerAsOwner } from './account.ts';

const issuer: KubeObject = { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: { namespace: 'tenant-acme', name: 'cozystack-gateway', uid: 'issuer' } };
const secret = (metadata: KubeObject['metadata']): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'tenant-acme', name: 'cozystack-acme-account', uid: 'secret', ...metadata } });
const label = { 'app.kubernetes.io/managed-by': 'cert-manager' };

describe("an ACME account's Secret", () => {
  it('goes with the Issuer that it was made for', () => {
    assert.deepEqual(withIssuerAsOwner(secret({ labels: label }), issuer), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cozystack-acme-account', namespace: 'tenant-acme', uid: 'secret', ownerReferences: [{ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', name: 'cozystack-gateway', uid: 'issuer' }] },
    });
  });
  for (const { name, metadata, owned } of [
    { name: 'is told by who wrote it where there is no label', metadata: { managedFields: [{ manager: 'cert-manager-issuers', operation: 'Update' as const }] }, owned: true },
    { name: 'that an operator brought stays', metadata: { managedFields: [{ manager: 'kubectl', operation: 'Update' as const }] }, owned: false },
    { name: 'that has the owner already is left as it is', metadata: { labels: label, ownerReferences: [{ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', name: 'cozystack-gateway', uid: 'issuer' }] }, owned: false },
    { name: 'of an earlier Issuer gets the present one', metadata: { labels: label, ownerReferences: [{ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', name: 'cozystack-gateway', uid: 'gone' }] }, owned: true },
  ]) it(name, () => assert.equal(withIssuerAsOwner(secret(metadata), issuer) !== undefined, owned));
});
