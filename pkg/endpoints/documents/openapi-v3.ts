import type { oas30 } from 'openapi3-ts';
import { encodeDocument, type Document } from './document.ts';
import { componentPrefix, metaRef, metaSchemas } from './meta-schemas.ts';
import { modelName, modelsOf } from './models.ts';
import { mediaTypes, operationTag, pathsOf, type Operation, type Parameter } from './operations.ts';
import { groupsOf, type ServedResource } from './served.ts';

/**
 * OpenAPI v3 (KEP-2896): `/openapi/v3` lists one document a group version, each below a URL with a hash of its content, so
 * that clients may keep it for ever. This is what the kube-aggregator passes on, and what `kubectl explain` and
 * `kubectl create --validate` read.
 */
export interface OpenApiV3Documents {
  index: Document;
  /** By the path below `/openapi/v3/`, as in `apis/apps.cozystack.io/v1alpha1`. */
  byGroupVersion: ReadonlyMap<string, Document>;
}

/** @param productVersion what `info.version` says */
export const openApiV3Documents = (resources: readonly ServedResource[], productVersion: string): OpenApiV3Documents => {
  const byGroupVersion = new Map<string, Document>();
  for (const { group, versions } of groupsOf(resources)) {
    for (const { version, resources: served } of versions) byGroupVersion.set(`apis/${group}/${version}`, encodeDocument(openApiV3(served, productVersion)));
  }
  const paths = Object.fromEntries([...byGroupVersion].map(([path, document]) => [path, { serverRelativeURL: hashedUrl(path, document) }]));
  return { index: encodeDocument({ paths }), byGroupVersion };
};

/** The hash that a URL of the index carries: the ETag without its quotes. */
export const hashOf = (document: Document): string => document.etag.slice(1, -1);

export const hashedUrl = (path: string, document: Document): string => `/openapi/v3/${path}?hash=${hashOf(document)}`;

/** The document of the resources of one group version. */
export const openApiV3 = (served: readonly ServedResource[], productVersion: string): oas30.OpenAPIObject => {
  const schemas = served.map(({ definition }) => modelsOf(definition));
  const groupVersions = [...new Map(served.map(({ definition: { group, version } }) => [`${group}/${version}`, { group, version }])).values()];
  return {
    openapi: '3.0.0',
    info: { title: 'Cozystack tenants', version: productVersion },
    paths: Object.fromEntries(served.flatMap(paths)),
    components: { schemas: Object.assign({}, ...schemas, metaSchemas(groupVersions)) as Record<string, oas30.SchemaObject> },
  };
};

const paths = (resource: ServedResource): [string, oas30.PathItemObject][] =>
  pathsOf(resource).map(({ path, parameters, operations }) => [
    path,
    {
      ...Object.fromEntries(operations.map((operation) => [operation.method, operationObject(resource, operation)])),
      parameters: parameters.map(parameterObject),
    },
  ]);

const parameterObject = ({ name, in: where, type, description }: Parameter): oas30.ParameterObject => ({
  name,
  in: where,
  description,
  ...(where === 'path' && { required: true }),
  schema: { type },
});

const operationObject = (resource: ServedResource, { id, action, description, parameters, body, responses }: Operation): oas30.OperationObject => {
  const { definition } = resource;
  const { group, version, kind } = definition;
  const schemaOf = (model: Operation['responses'][number]['model']): oas30.ReferenceObject => {
    switch (model) {
      case 'object':
        return { $ref: componentPrefix + modelName(definition, kind) };
      case 'list':
        return { $ref: componentPrefix + modelName(definition, definition.listKind) };
      case 'status':
        return metaRef('Status');
      case 'patch':
        return metaRef('Patch');
      case 'deleteOptions':
        return metaRef('DeleteOptions');
    }
  };
  const content = (types: readonly string[], model: Operation['responses'][number]['model']): oas30.ContentObject =>
    Object.fromEntries(types.map((type) => [type, { schema: schemaOf(model) }]));
  return {
    tags: [operationTag(definition)],
    description,
    operationId: id,
    parameters: parameters.map(parameterObject),
    ...(body && { requestBody: { content: content(body.mediaTypes, body.model), ...(body.required && { required: true }) } }),
    responses: {
      ...Object.fromEntries(responses.map(({ code, description: outcome, model }) => [code, { description: outcome, content: content(mediaTypes, model) }])),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
};
