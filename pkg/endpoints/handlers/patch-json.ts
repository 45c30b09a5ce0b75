import type { Response } from 'express';
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import type { Subresource } from '../../storage/store.ts';
import { mergePatch } from '../merge-patch.ts';
import type { RequestInfo } from '../request-info.ts';
import { coerceObject } from '../structural/coerce.ts';
import { JsonSyntaxError, scanJson } from '../structural/json-scan.ts';
import { goJson } from '../structural/quote.ts';
import { isObject, type JsonObject } from '../structural/schema.ts';
import { patchResultError } from '../structural/strict.ts';
import { checkName, checkType, reportStrictness, withNamespace } from './object.ts';
import { attributesOf, type RequestScope } from './scope.ts';
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
  const { document, duplicateFields } = parsePatch(input.body);
  for (let attempt = 1; ; attempt += 1) {
    const oldObject = await scope.store.get(namespace, name, signal);
    const patched = patchedObject(input.patchType, oldObject, document);
    const fault = (message: string): StatusError => patchResultError(goJson(patched), message);
    const { value, unknownFields } = coerceObject(scope.schema, patched, fault);
    reportStrictness(response, options.fieldValidation, unknownFields, duplicateFields, fault);
    const object = withNamespace({ metadata: {}, ...value } as unknown as KubeObject, namespace);
    checkType(scope, object);
    checkName(object, name);

    const attributes = attributesOf(scope, response, 'UPDATE', { name, object, oldObject, dryRun: options.dryRun });
    await scope.admission.mutate(attributes);
    await scope.admission.validate(attributes);
    try {
      return await scope.store.update(attributes.object!, { ...options, signal }, requestInfo.subresource as Subresource);
    } catch (error) {
      const named = object.metadata.resourceVersion !== oldObject.metadata.resourceVersion;
      if (!hasCode(error, 409) || named || attempt > conflictRetries) throw error;
    }
  }
};

const parsePatch = (body: Buffer): { document: unknown; duplicateFields: string[] } => {
  try {
    const { duplicates } = scanJson(body);
    return { document: JSON.parse(body.toString('utf8')) as unknown, duplicateFields: duplicates };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw StatusError.badRequest(error.message, error);
    throw error;
  }
};

const patchedObject = (patchType: JsonPatchType, oldObject: KubeObject, document: unknown): JsonObject => {
  const result = patchType === 'application/merge-patch+json' ? merged(oldObject, document) : operated(oldObject, document);
  if (!isObject(result)) throw StatusError.badRequest('the patch does not leave an object');
  return result;
};

const merged = (oldObject: KubeObject, document: unknown): unknown => {
  if (!isObject(document)) throw StatusError.badRequest('a merge patch must be a JSON object');
  return mergePatch(oldObject, document);
};

const operated = (oldObject: KubeObject, document: unknown): unknown => {
  if (!Array.isArray(document)) throw StatusError.badRequest('a JSON patch must be a list of operations');
  if (document.length > maxOperations) {
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${document.length}`);
  }
  try {
    const live = structuredClone(oldObject) as unknown;
    return fastJsonPatch.applyPatch(live, document as Operation[], true, true, true).newDocument;
  } catch (error) {
    const message = `the server rejected our request due to an error in our request`;
    throw new StatusError(422, 'Invalid', message, undefined, error);
  }
};
