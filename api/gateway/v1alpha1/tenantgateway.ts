import type { ObjectMeta } from '../../meta/v1/types.ts';
import type { ResourceDefinition } from '../../resource.ts';
import schema from './schema.json' with { type: 'json' };
import type { TenantGatewaySpec, TenantGatewayStatus } from './schema.ts';

export type { TenantGatewaySpec, TenantGatewayStatus, ListenerStatus } from './schema.ts';

export interface TenantGateway {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: TenantGatewaySpec;
  status?: TenantGatewayStatus;
  [field: string]: unknown;
}

export const tenantGateways: ResourceDefinition = {
  group: 'gateway.cozystack.io',
  version: 'v1alpha1',
  kind: 'TenantGateway',
  listKind: 'TenantGatewayList',
  plural: 'tenantgateways',
  singular: 'tenantgateway',
  shortNames: ['tgw'],
  categories: [],
  namespaced: true,
  schema,
  printerColumns: [
    { name: 'Apex', type: 'string', jsonPath: '.spec.apex', description: 'Apex domain.' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.certMode', description: 'Where certificates come from.' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', description: 'Whether all listeners serve.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
};
