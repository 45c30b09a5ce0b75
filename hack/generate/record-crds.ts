import { stringify } from 'yaml';
import { schema as tenantSchema } from '../../api/apps/v1alpha1/schema.ts';
import { schema as tenantGatewaySchema } from '../../api/gateway/v1alpha1/schema.ts';
import { withIssuerNames } from '../../api/gateway/v1alpha1/issuer-names.ts';
import { tenantGatewayRecords, tenantRecords } from '../../api/records/v1alpha1/records.ts';
import { customResourceDefinition } from '../../pkg/endpoints/documents/crd.ts';

/** A file that is kept in the repository and made from other files: its path from the repository's root, and its text. */
export interface GeneratedFile {
  path: string;
  text: string;
}

const header = '# Made from the schemas in api/ by `npm run update`; do not edit.\n';

/** The CustomResourceDefinitions of the records, one file each. */
export const recordCrds = (): GeneratedFile[] =>
  // from the schemas themselves: schema.json may be just about to be written
  [{ ...tenantRecords, schema: tenantSchema }, withIssuerNames({ ...tenantGatewayRecords, schema: tenantGatewaySchema })].map((definition) => ({
    path: `manifests/crds/${definition.group}_${definition.plural}.yaml`,
    text: header + stringify(customResourceDefinition(definition, { labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' } }), { lineWidth: 0 }),
  }));
