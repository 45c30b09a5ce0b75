import type { Request, Response } from 'express';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { FieldValidation } from '../../storage/store.ts';
import { contextOf } from '../context.ts';
import { negotiate, objectOffer, type OutputFormat } from '../negotiation.ts';
import { sendValue } from '../respond.ts';
import { coerceObject } from '../structural/coerce.ts';
import { decodeBody } from '../structural/decode.ts';
import { strictBodyError, strictErrorMessage, strictWarnings } from '../structural/strict.ts';
import { table, toPartialObjectMetadata } from '../table.ts';
import { includeObjectOf, queryOf, type RequestScope } from './scope.ts';

export const negotiateObject = (request: Request): OutputFormat =>
  negotiate(request.headers.accept, queryOf(request), request.headers['user-agent'], objectOffer);

/** Writes one object in the form that was asked for. */
export const sendObject = (scope: RequestScope, request: Request, response: Response, code: number, object: KubeObject, format: OutputFormat): void => {
  const apiVersion = `meta.k8s.io/${format.as?.version}`;
  if (format.as?.kind === 'PartialObjectMetadataList') throw new StatusError(406, 'NotAcceptable', 'you requested PartialObjectMetadataList, but the requested object is no list');
  const converted =
    format.as?.kind === 'Table'
      ? table(scope.columns, object, { now: scope.now(), include: includeObjectOf(queryOf(request)), apiVersion })
      : format.as
        ? toPartialObjectMetadata(object, apiVersion)
        : object;
  const { audit, requestInfo } = contextOf(response);
  audit?.responseObject(converted);
  if (audit && requestInfo.verb !== 'get' && !queryOf(request).has('dryRun')) audit.written(object);
  sendValue(response, code, converted, format);
};

/**
 * The object in the body of a create or an update: decoded, checked as fieldValidation demands, pruned and defaulted.
 * @throws StatusError 400
 */
export const decodeObject = (
  scope: RequestScope,
  response: Response,
  body: Buffer,
  mediaType: 'application/json' | 'application/yaml',
  fieldValidation: FieldValidation,
): KubeObject => {
  const decoded = decodeBody(body, mediaType, { expected: scope.kind, strict: fieldValidation !== 'Ignore' });
  const { value, unknownFields } = coerceObject(scope.schema, decoded.value);
  reportStrictness(response, fieldValidation, unknownFields, decoded.duplicateFields, (message) => strictBodyError(decoded.value, message));
  checkVersion(scope, value);
  const ofOurKind = value.kind === scope.kind.kind;
  contextOf(response).audit?.requestObject(ofOurKind ? value : (decoded.value as object)); // what is sent as another kind has no defaults
  checkKind(scope, value);
  return { metadata: {}, ...value } as unknown as KubeObject;
};

/** Strict refuses unknown and duplicate fields, Warn tells of them. */
export const reportStrictness = (
  response: Response,
  fieldValidation: FieldValidation,
  unknownFields: readonly string[],
  duplicateFields: readonly string[],
  refusal: (message: string) => StatusError,
): void => {
  if (fieldValidation === 'Ignore') return;
  const message = strictErrorMessage(unknownFields, duplicateFields);
  if (message && fieldValidation === 'Strict') throw refusal(message);
  for (const warning of strictWarnings(unknownFields, duplicateFields)) contextOf(response).warnings.add(warning);
};

/**
 * The version of a body must be the path's.
 * @throws StatusError 400
 */
const checkVersion = ({ definition }: RequestScope, { apiVersion }: Record<string, unknown>): void => {
  const expected = apiVersionOf(definition);
  if (apiVersion !== expected) {
    throw StatusError.badRequest(`the API version in the data (${textOf(apiVersion)}) does not match the expected API version (${expected})`);
  }
};

/**
 * So must its kind.
 * @throws StatusError 422
 */
const checkKind = ({ kind }: RequestScope, { kind: stated, metadata }: Record<string, unknown>): void => {
  if (stated === kind.kind) return;
  throw wrongType(kind.group, textOf(stated), metadata, { field: 'kind', value: stated, expected: kind.kind });
};

/**
 * A patch must leave kind and version as they are.
 * @throws StatusError 422
 */
export const checkPatchedType = ({ kind, definition }: RequestScope, { apiVersion, kind: stated, metadata }: KubeObject): void => {
  const expected = apiVersionOf(definition);
  if (apiVersion !== expected) throw wrongType(groupOf(textOf(apiVersion)), textOf(stated), metadata, { field: 'apiVersion', value: apiVersion, expected });
  if (stated !== kind.kind) throw wrongType(kind.group, textOf(stated), metadata, { field: 'kind', value: stated, expected: kind.kind });
};

/** The refusal is about the group and kind that were stated. */
const wrongType = (group: string, stated: string, metadata: unknown, { field, value, expected }: { field: string; value: unknown; expected: string }): StatusError =>
  StatusError.invalid(group, stated, (metadata as { name?: string } | undefined)?.name ?? '', [
    { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value ?? '')}: must be ${expected}` },
  ]);

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * The namespace of an object must be the path's; it is filled in where it is missing.
 * @throws StatusError 400
 */
export const withNamespace = (object: KubeObject, namespace: string): KubeObject => {
  const stated = object.metadata.namespace;
  if (stated && stated !== namespace) {
    throw StatusError.badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  return stated ? object : { ...object, metadata: { ...object.metadata, namespace } };
};

/** @throws StatusError 400 */
export const checkName = (object: KubeObject, name: string): void => {
  const stated = object.metadata.name;
  if (!stated) throw StatusError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (stated !== name) throw StatusError.badRequest(`the name of the object (${stated}) does not match the name on the URL (${name})`);
};
