import { schema as tenant } from '../../api/apps/v1alpha1/schema.ts';
import { schema as tenantGateway } from '../../api/gateway/v1alpha1/schema.ts';
import type { GeneratedFile } from './record-crds.ts';

/** The kinds' schemas as JSON, for the server: to load TypeBox and to build them would take it a quarter of a second. */
export const schemas = (): GeneratedFile[] =>
  Object.entries({ 'api/apps/v1alpha1': tenant, 'api/gateway/v1alpha1': tenantGateway }).map(([folder, schema]) => ({
    path: `${folder}/schema.json`,
    text: `${JSON.stringify(schema, undefined, 2)}\n`,
  }));
