import type { ObjectMeta } from '../../meta/v1/types.ts';
import type { ResourceDefinition } from '../../resource.ts';
import schema from './schema.json' with { type: 'json' };
import type { TenantSpec, TenantStatus } from './schema.ts';

export type { TenantSpec, TenantStatus } from './schema.ts';

export interface Tenant {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: TenantSpec;
  status?: TenantStatus;
  [field: string]: unknown;
}

/** What the schema demands of the values of `spec.resourceQuotas`. */
export const quantityPattern: string = schema.properties.spec.properties.resourceQuotas.additionalProperties.pattern;

export const tenants: ResourceDefinition = {
  group: 'apps.cozystack.io',
  version: 'v1alpha1',
  kind: 'Tenant',
  listKind: 'TenantList',
  plural: 'tenants',
  singular: 'tenant',
  shortNames: [],
  categories: [],
  namespaced: true,
  schema,
  printerColumns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', description: 'Whether everything that the tenant gets is in place.' },
    { name: 'Namespace', type: 'string', jsonPath: '.status.namespace', description: 'Namespace of the tenant.' },
    { name: 'Host', type: 'string', jsonPath: '.status.host', description: 'Effective apex domain.' },
    { name: 'Gateway', type: 'string', jsonPath: '.status.gateway', description: 'Namespace of the tenant whose Gateway serves it.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', priority: 1, description: 'Version of what was last applied.' },
    { name: 'Quota', type: 'string', jsonPath: '.status.remaining', priority: 1, description: 'What is left of the budget.' },
    { name: 'Owners', type: 'string', jsonPath: '.status.owners', priority: 1, description: 'Groups that own the tenant, its own first.' },
    { name: 'Children', type: 'integer', jsonPath: '.status.children', priority: 1, description: 'Number of tenants directly below.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
};
