import type { TSchema } from 'typebox';

/** One column of a Table (KEP-575), as CustomResourceDefinitions declare it; jsonPath is the apiextensions dialect. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** 0 is always shown, greater values only by `-o wide`. */
  priority?: number;
  jsonPath: string;
}

/** Everything about a served kind that is data: discovery, OpenAPI, CRD, table and validation are made from it. */
export interface ResourceDefinition {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: true;
  /** Structural schema of the whole object; `metadata` is left to the API machinery. */
  schema: TSchema;
  printerColumns: readonly PrinterColumn[];
  /** Fields besides metadata.name and metadata.namespace that field selectors may name, as in `.spec.host`. */
  selectableFields: readonly string[];
}

/** `group/version` as it stands in apiVersion. */
export const apiVersionOf = (definition: Pick<ResourceDefinition, 'group' | 'version'>): string =>
  `${definition.group}/${definition.version}`;
