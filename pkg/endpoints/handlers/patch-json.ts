import type { Response } from 'express';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { writeAdmitted, type AdmissionAttributes } from '../../admission/chain.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import type { Subresource } from '../../storage/store.ts';
import { applyJsonPatch, PatchError, type PatchOperation } from '../json-patch.ts';
import { mergePatch } from '../merge-patch.ts';
import type { RequestInfo } from '../request-info.ts';
import { coerceObject } from '../structural/coerce.ts';
import { jsonTypeOf } from '../structural/decode.ts';
import { JsonSyntaxError, scanJson } from '../structural/json-scan.ts';
import { goJson } from '../structural/quote.ts';
import { isObject, type JsonObject } from '../../json/object.ts';
import { patchResultError } from '../structural/strict.ts';
import { checkName, checkPatchedType, reportStrictness, withNamespace } from './object.ts';
import { attributesOf, currentObject, warnerOf, type RequestScope } from './scope.ts';
import { requireTypes } from './types.ts';
import type { ParsedWriteOptions } from './write-options.ts';

export interface PatchInput {
  scope: RequestScope;
  response: Response;
  body: Buffer;
  options: ParsedWriteOptions;
  requestInfo: RequestInfo;
  signal: AbortSignal;
}

type JsonPatchType = 'application/json-patch+json' | 'application/merge-patch+json';

/** As the kube-apiserver: conflicts are none of the client's affair unless its patch names a version. */
const conflictRetries = 5;
const maxOperations = 10_000;

/** Applies a JSON patch (RFC 6902) or merge patch (RFC 7396) to the live object and writes the result. */
export const jsonPatch = async (input: PatchInput & { patchType: JsonPatchType }): Promise<KubeObject> => {
  const { scope, response, options, requestInfo, signal } = input;
  const { namespace, name } = requestInfo;
  const { document, faults } = parsePatch(input.body, input.patchType);
  for (let attempt = 1; ; attempt += 1) {
    const cached = attempt === 1;
    const oldObject = await currentObject(scope, namespace, name, signal, cached);
    if (!oldObject) throw StatusError.notFound({ group: scope.kind.group, resource: scope.definition.plural }, name);
    let named = false;
    try {
      const attributes = changeOf(input, oldObject, document, faults);
      named = attributes.object!.metadata.resourceVersion !== oldObject.metadata.resourceVersion;
      if (named && cached) continue; // a version that the patch names is held against the live object alone
      await scope.admission.mutate(attributes);
      if (!requestInfo.subresource) await requireTypes(scope, attributes.object!, () => scope.store.update(attributes.object!, { ...options, dryRun: true, signal }));
      await scope.admission.validate(attributes);
      return await writeAdmitted(attributes, signal, () => scope.store.update(attributes.object!, { ...options, signal, warn: warnerOf(response) }, requestInfo.subresource as Subresource));
    } catch (error) {
      const conflict = hasCode(error, 409) && !named && attempt <= conflictRetries;
      // what is wrong with the patch of a cached object may not be so with the live one
      if (!conflict && !(cached && error instanceof StatusError && error.code < 500)) throw error;
    }
  }
};

/** The object as the patch leaves it, for admission to judge. */
const changeOf = (input: PatchInput & { patchType: JsonPatchType }, oldObject: KubeObject, document: unknown, faults: string[]): AdmissionAttributes => {
  const { scope, response, options, requestInfo } = input;
  const { namespace, name } = requestInfo;
  const patched = patchedObject(input.patchType, oldObject, document);
  const fault = (message: string): StatusError => patchResultError(goJson(patched), message);
  if (typeof patched.kind !== 'string' || patched.kind === '') throw fault(`Object 'Kind' is missing in '${goJson(patched)}'`);
  const { value, unknownFields } = coerceObject(scope.schema, patched, fault);
  reportStrictness(response, options.fieldValidation, unknownFields, faults, fault);
  const object = withNamespace({ metadata: {}, ...value } as unknown as KubeObject, namespace);
  checkPatchedType(scope, object);
  checkName(object, name);
  checkUid(scope, object, oldObject);
  return attributesOf(scope, response, 'UPDATE', { name, object, oldObject, dryRun: options.dryRun });
};

/** @throws StatusError 422: the uid in a patch is a change, not a precondition as in an update */
const checkUid = ({ kind }: RequestScope, { metadata }: KubeObject, oldObject: KubeObject): void => {
  if (!metadata.uid || metadata.uid === oldObject.metadata.uid) return;
  throw StatusError.invalid(kind.group, kind.kind, oldObject.metadata.name!, [
    { reason: 'FieldValueInvalid', field: 'metadata.uid', message: `Invalid value: ${JSON.stringify(metadata.uid)}: field is immutable` },
  ]);
};

/**
 * A patch, and what strict decoding finds in it.
 * @throws StatusError 400 in the kube-apiserver's words
 */
const parsePatch = (body: Buffer, patchType: JsonPatchType): { document: unknown; faults: string[] } => {
  const { document, duplicateFields } = parseJson(body);
  checkPatch(document, patchType);
  if (patchType === 'application/merge-patch+json') return { document, faults: duplicateFields };
  return { document, faults: [...duplicateFields, ...unknownFields(document as JsonObject[] | null)].map((text) => `json patch ${text}`) };
};

const operationFields = ['op', 'from', 'path', 'value'];

const unknownFields = (operations: readonly JsonObject[] | null): string[] =>
  (operations ?? []).flatMap((operation, index) =>
    Object.keys(operation).filter((field) => !operationFields.includes(field)).map((field) => `unknown field "[${index}].${field}"`),
  );

const checkPatch = (document: unknown, patchType: JsonPatchType): void => {
  const wrong = (value: unknown, into: string): StatusError => StatusError.badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(value)} into Go ${into}`);
  if (patchType === 'application/merge-patch+json') {
    if (document === null) throw StatusError.badRequest('Invalid JSON Patch');
    if (!isObject(document)) throw wrong(document, 'value of type map[string]interface {}');
    return;
  }
  if (document === null) return; // no operations
  if (!Array.isArray(document)) throw wrong(document, 'value of type []handlers.jsonPatchOp');
  for (const operation of document as unknown[]) {
    if (!isObject(operation)) throw wrong(operation, 'value of type handlers.jsonPatchOp');
    for (const field of ['op', 'path', 'from']) {
      const value = operation[field] ?? '';
      if (typeof value !== 'string') throw wrong(value, `struct field jsonPatchOp.${field} of type string`);
    }
  }
};

const parseJson = (body: Buffer): { document: unknown; duplicateFields: string[] } => {
  try {
    const { duplicates } = scanJson(body);
    return { document: JSON.parse(body.toString('utf8')) as unknown, duplicateFields: duplicates };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw StatusError.badRequest('invalid JSON patch', error);
    throw error;
  }
};

const patchedObject = (patchType: JsonPatchType, oldObject: KubeObject, document: unknown): JsonObject => {
  const result = patchType === 'application/merge-patch+json' ? mergePatch(oldObject, document) : operated(oldObject, (document ?? []) as PatchOperation[]);
  if (!isObject(result)) throw rejected();
  return result;
};

const operated = (oldObject: KubeObject, operations: PatchOperation[]): unknown => {
  if (operations.length > maxOperations) {
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`);
  }
  try {
    return applyJsonPatch(structuredClone(oldObject) as unknown as JsonObject, operations);
  } catch (error) {
    throw error instanceof PatchError ? rejected(error) : error;
  }
};

/** Of a patch that is well formed and cannot be applied to this object. */
const rejected = (cause?: unknown): StatusError => new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {}, cause);
