import type { oas30 } from 'openapi3-ts';
import type { ResourceDefinition } from '../../../api/resource.ts';
import { structuralOf, type StructuralSchema } from '../structural/schema.ts';
import { plainSchema } from './crd.ts';
import { componentPrefix, metaField, typeMeta } from './meta-schemas.ts';

/** `io.cozystack.apps.v1alpha1.Tenant`: the name of a kind's schema in OpenAPI documents. */
export const modelName = ({ group, version }: Pick<ResourceDefinition, 'group' | 'version'>, kind: string): string =>
  `${group.split('.').toReversed().join('.')}.${version}.${kind}`;

/** The schemas of a kind and of its list, in the form of OpenAPI v3, as a CustomResourceDefinition publishes them. */
export const modelsOf = (definition: ResourceDefinition): Record<string, oas30.SchemaObject> => {
  const { group, version, kind, listKind, plural, schema, selectableFields } = definition;
  const selectable = selectableFields.length > 0 && { 'x-kubernetes-selectable-fields': selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') })) };
  const structural = plainSchema(structuralOf(schema));
  return {
    [modelName(definition, kind)]: {
      ...(unfold(structural) as oas30.SchemaObject),
      properties: {
        ...typeMeta,
        metadata: metaField('ObjectMeta', 'Metadata of the object.'),
        ...(unfold(structural).properties as oas30.SchemaObject['properties']),
      },
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
      ...selectable,
    },
    [modelName(definition, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        ...typeMeta,
        items: { description: `The ${plural}.`, type: 'array', items: { $ref: componentPrefix + modelName(definition, kind) } },
        metadata: metaField('ListMeta', 'Metadata of the list.'),
      },
      'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
      ...selectable,
    },
  };
};

/** Spells out what `x-kubernetes-int-or-string` implies, for tools that do not know it. */
const unfold = (schema: StructuralSchema): StructuralSchema => {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, unfold(property)])) }),
    ...(items && { items: unfold(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: unfold(additionalProperties) }),
  };
};
