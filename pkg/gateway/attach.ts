import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { applyWouldChange, ownedFields } from '../controller/managed-fields.ts';
import { attachLabel, gatewayLabel } from './names.ts';

/** Who writes the labels of attached namespaces, in managedFields: apart from what the loop writes of tenants' namespaces. */
export const attachManager = 'tenant-apiserver-attach';

/** Tenants' namespaces attach by their place in the tree, and by nothing else. */
export const isTenants = (namespace: string): boolean => namespace.startsWith('tenant-');

/** What a gateway's spec attaches, without what it may not. */
export const listedBy = ({ spec }: Pick<TenantGateway, 'spec'>): string[] => [...new Set(spec.attachedNamespaces ?? [])].filter((name) => name !== '' && !isTenants(name));

/** The namespaces that carry a gateway's key: its own, and those listed. Those of tenants below get it from their tenant. */
export const carriersOf = (gateway: TenantGateway): string[] => [gateway.metadata.namespace!, ...listedBy(gateway)];

/**
 * The labels to apply to a namespace that gateways in `owners` list or are in, or undefined where all is as it should be. What we once
 * wrote and no longer apply goes, and nothing else does.
 */
export const attachmentOf = (namespace: KubeObject, owners: readonly string[]): KubeObject | undefined => {
  const { name, labels = {}, deletionTimestamp } = namespace.metadata;
  const written = labelsWritten(namespace);
  // A tenant's own namespace has the key from its tenant.
  const keys = owners.filter((owner) => owner !== name || labels[attachLabel(owner)] === undefined || written.has(attachLabel(owner)));
  if (deletionTimestamp || (keys.length === 0 && written.size === 0)) return undefined;
  const compatible = compatibleOwner(labels[gatewayLabel], written.has(gatewayLabel), keys);
  const wanted = { ...Object.fromEntries(keys.map((owner) => [attachLabel(owner), ''])), ...(compatible !== undefined && { [gatewayLabel]: compatible }) };
  const desired: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...(Object.keys(wanted).length > 0 && { labels: wanted }) } };
  return applyWouldChange(desired, namespace, attachManager) ? desired : undefined;
};

/** Keys of the labels that we wrote and nobody has written over since. */
const labelsWritten = (namespace: KubeObject): Set<string> => {
  const metadata = ownedFields(namespace, 'v1', attachManager)?.['f:metadata'] as { 'f:labels'?: object } | undefined;
  return new Set(Object.keys(metadata?.['f:labels'] ?? {}).map((key) => key.slice('f:'.length)));
};

/** It has room for one gateway: who has it keeps it, else the first by name gets it. What others wrote stays. */
const compatibleOwner = (present: string | undefined, isOurs: boolean, owners: readonly string[]): string | undefined => {
  if (present !== undefined && !isOurs) return undefined;
  return present !== undefined && owners.includes(present) ? present : owners.toSorted()[0];
};
