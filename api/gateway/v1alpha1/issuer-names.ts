import type { ResourceDefinition } from '../../resource.ts';

/**
 * The definition with other names of issuers in its schema. Without any, `issuerName` takes all names: so the record is kept,
 * for whoever runs the server decides on the issuers, and the CustomResourceDefinition of the record knows nothing of that.
 */
export const withIssuerNames = <D extends Pick<ResourceDefinition, 'schema'>>(definition: D, names?: readonly string[]): D => {
  const schema = structuredClone(definition.schema) as unknown as { properties: { spec: { properties: { issuerName: { enum?: string[] } } } } };
  const field = schema.properties.spec.properties.issuerName;
  if (names) field.enum = [...names];
  else delete field.enum;
  return { ...definition, schema: schema as unknown as D['schema'] };
};
