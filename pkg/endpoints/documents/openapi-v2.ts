import type { oas30 } from 'openapi3-ts';
import { encodeDocument, type Document } from './document.ts';
import { componentPrefix } from './meta-schemas.ts';
import { openApiV3 } from './openapi-v3.ts';
import { patchMediaTypes, mediaTypes } from './operations.ts';
import type { ServedResource } from './served.ts';

type Json = Record<string, unknown>;

/** The parts of Swagger 2.0 that are generated. */
export interface Swagger {
  swagger: '2.0';
  info: { title: string; version: string };
  paths: Record<string, Json>;
  definitions: Record<string, Json>;
}

export interface OpenApiV2Documents {
  /** For whoever asks: every reference is resolved within the document. */
  complete: Document;
  /**
   * For the kube-aggregator (user `system:aggregator`), which merges all documents into one: without the meta/v1 types, so
   * that references to them find the kube-apiserver's own. With ours, it would rename them to `ObjectMeta_v2` and so on.
   */
  forAggregator: Document;
}

/** `/openapi/v2`, which older clients read. */
export const openApiV2Documents = (resources: readonly ServedResource[], productVersion: string): OpenApiV2Documents => {
  const complete = openApiV2(resources, productVersion);
  const own = Object.entries(complete.definitions).filter(([name]) => !name.startsWith('io.k8s.'));
  return { complete: encodeDocument(complete), forAggregator: encodeDocument({ ...complete, definitions: Object.fromEntries(own) }) };
};

/** The same operations and schemas as in v3, without what Swagger 2.0 cannot say. */
const openApiV2 = (resources: readonly ServedResource[], productVersion: string): Swagger => {
  const { info, paths, components } = openApiV3(resources, productVersion);
  return {
    swagger: '2.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(Object.entries(paths as Record<string, oas30.PathItemObject>).map(([path, item]) => [path, pathItem(item)])),
    definitions: Object.fromEntries(Object.entries(components?.schemas ?? {}).map(([name, schema]) => [name, schemaV2(schema)])),
  };
};

const methods = ['get', 'put', 'post', 'patch', 'delete'] as const;

const pathItem = (item: oas30.PathItemObject): Json => ({
  ...Object.fromEntries(methods.flatMap((method) => (item[method] ? [[method, operation(item[method])]] : []))),
  parameters: (item.parameters as oas30.ParameterObject[]).map(parameter),
});

const parameter = ({ schema, ...rest }: oas30.ParameterObject): Json => ({ ...rest, ...schema });

const operation = ({ requestBody, responses, parameters, ...rest }: oas30.OperationObject): Json => {
  const body = requestBody as oas30.RequestBodyObject | undefined;
  const isPatch = rest['x-kubernetes-action'] === 'patch';
  return {
    ...rest,
    consumes: isPatch ? patchMediaTypes : mediaTypes,
    produces: mediaTypes,
    schemes: ['https'],
    parameters: [
      ...(body ? [{ name: 'body', in: 'body', ...(body.required && { required: true }), schema: contentSchema(body.content) }] : []),
      ...(parameters as oas30.ParameterObject[]).map(parameter),
    ],
    responses: Object.fromEntries(
      Object.entries(responses as Record<string, oas30.ResponseObject>).map(([code, { description, content }]) => [
        code,
        { description, ...(content && { schema: contentSchema(content) }) },
      ]),
    ),
  };
};

/** Swagger 2.0 has one schema for all media types. */
const contentSchema = (content: oas30.ContentObject): Json => schemaV2(Object.values(content)[0]?.schema ?? {});

/** Keywords that Swagger 2.0 does not know, or that old clients trip over. */
const dropped = new Set(['anyOf', 'oneOf', 'not', 'nullable', 'default']);

/**
 * A schema as the kube-apiserver converts that of a CustomResourceDefinition: no junctors, no defaults; what may be null or
 * holds unknown fields loses its type and its parts, since old clients would refuse values that are fine.
 */
export const schemaV2 = (schema: oas30.SchemaObject | oas30.ReferenceObject): Json => {
  if ('$ref' in schema) return { $ref: refV2(schema.$ref) };
  const { allOf, properties, items, additionalProperties, required, ...rest } = schema;
  const out: Json = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !dropped.has(keyword)));
  const [single] = allOf ?? [];
  if (single && '$ref' in single) out['$ref'] = refV2(single.$ref);
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.nullable || isOpen || (out['type'] === 'array' && !items)) delete out['type'];
  if (!schema.nullable && !isOpen) {
    if (properties) out['properties'] = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, schemaV2(property)]));
    if (items) out['items'] = schemaV2(items);
  }
  if (typeof additionalProperties === 'object') out['additionalProperties'] = schemaV2(additionalProperties);
  else if (additionalProperties !== undefined) out['additionalProperties'] = additionalProperties;
  const needed = required?.filter((name) => !isNullable(properties?.[name]));
  if (needed && needed.length > 0) out['required'] = needed;
  return out;
};

const isNullable = (schema: oas30.SchemaObject | oas30.ReferenceObject | undefined): boolean => schema !== undefined && !('$ref' in schema) && schema.nullable === true;

const refV2 = (ref: string): string => ref.replace(componentPrefix, '#/definitions/');
