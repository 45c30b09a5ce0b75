import type { PrinterColumn, ResourceDefinition } from '../../../api/resource.ts';
import { structuralOf, type StructuralSchema } from '../structural/schema.ts';

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as it is generated. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    group: string;
    names: { plural: string; singular: string; kind: string; listKind: string; shortNames?: string[]; categories?: string[] };
    scope: 'Namespaced';
    versions: {
      name: string;
      served: true;
      storage: true;
      schema: { openAPIV3Schema: StructuralSchema };
      subresources: { status: Record<string, never> };
      additionalPrinterColumns: PrinterColumn[];
      selectableFields?: { jsonPath: string }[];
    }[];
  };
}

/**
 * The CustomResourceDefinition that serves a definition from the kube-apiserver: the record behind a virtual kind, or, with
 * another group (`{ ...definition, group: 'twin.test' }`), its twin that answers are compared with.
 */
export const customResourceDefinition = (
  definition: ResourceDefinition,
  { labels, annotations }: { labels?: Record<string, string>; annotations?: Record<string, string> } = {},
): CustomResourceDefinition => {
  const { group, version, kind, listKind, plural, singular, shortNames, categories, schema, printerColumns, selectableFields } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      group,
      names: {
        plural,
        singular,
        kind,
        listKind,
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: plainSchema(structuralOf(schema)) },
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns.map((column) => ({ ...column })),
          ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
};

/** A copy without what the schema builders attach for themselves. */
export const plainSchema = (schema: StructuralSchema): StructuralSchema => JSON.parse(JSON.stringify(schema)) as StructuralSchema;
