import { tenants } from '../../apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../gateway/v1alpha1/tenantgateway.ts';
import type { ResourceDefinition } from '../../resource.ts';

/**
 * The record that keeps a virtual object: same schema, columns and status subresource in the internal group. Nobody but the
 * server writes records, so they have no short names and no categories that would bring them to a user's attention.
 */
export const recordDefinition = (definition: ResourceDefinition): ResourceDefinition => ({
  ...definition,
  group: 'records.cozystack.io',
  version: 'v1alpha1',
  kind: `${definition.kind}Record`,
  listKind: `${definition.kind}RecordList`,
  plural: `${definition.singular}records`,
  singular: `${definition.singular}record`,
  shortNames: [],
  categories: [],
});

export const tenantRecords = recordDefinition(tenants);
export const tenantGatewayRecords = recordDefinition(tenantGateways);
