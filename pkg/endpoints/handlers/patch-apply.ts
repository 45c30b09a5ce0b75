import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { hasCode } from '../../kube/status-error.ts';
import type { ApplyOptions, Subresource } from '../../storage/store.ts';
import { contextOf } from '../context.ts';
import { forbidden } from '../../authorization/forbidden.ts';
import { coerceObject } from '../structural/coerce.ts';
import { decodeBody } from '../structural/decode.ts';
import { strictBodyError } from '../structural/strict.ts';
import { checkName, checkType, reportStrictness, withNamespace } from './object.ts';
import type { PatchInput } from './patch-json.ts';
import { attributesOf } from './scope.ts';

const conflictRetries = 5;

/**
 * Server-side apply. The host works out the result by a dry run; admission judges it; then it is applied upon the very
 * version that was judged, anew if that has changed meanwhile.
 */
export const applyPatch = async (input: PatchInput): Promise<{ object: KubeObject; created: boolean }> => {
  const { scope, requestInfo, signal } = input;
  const { namespace, name } = requestInfo;
  const subresource = requestInfo.subresource as Subresource;
  const patch = decodePatch(input);
  const options: ApplyOptions = { fieldManager: input.options.fieldManager, force: input.options.force ?? false, signal };

  for (let attempt = 1; ; attempt += 1) {
    const oldObject = await scope.store.get(namespace, name, signal).catch((error: unknown) => {
      if (hasCode(error, 404)) return undefined;
      throw error;
    });
    const judged = await judge(input, patch, oldObject, options, subresource);
    if (input.options.dryRun) return { object: judged, created: oldObject === undefined };
    try {
      return await scope.store.apply(pinned(patch, oldObject), options, subresource);
    } catch (error) {
      const pinnedByClient = patch.metadata.resourceVersion !== undefined;
      if (!isVersionConflict(error) || pinnedByClient || attempt > conflictRetries) throw error;
    }
  }
};

/** The result of the apply, once the caller may create it (where it is new) and admission has let it pass. */
const judge = async (input: PatchInput, patch: KubeObject, oldObject: KubeObject | undefined, options: ApplyOptions, subresource: Subresource): Promise<KubeObject> => {
  const { scope, response, requestInfo } = input;
  if (!oldObject) await authorizeCreate(input);
  const { object: result } = await scope.store.apply(pinned(patch, oldObject), { ...options, dryRun: true }, subresource);
  const attributes = attributesOf(scope, response, oldObject ? 'UPDATE' : 'CREATE', {
    name: requestInfo.name,
    object: result,
    ...(oldObject && { oldObject }),
    dryRun: input.options.dryRun,
  });
  await scope.admission.mutate(attributes);
  await scope.admission.validate(attributes);
  return result;
};

const decodePatch = ({ scope, response, body, options, requestInfo }: PatchInput): KubeObject => {
  const { value, duplicateFields } = decodeBody(body, 'application/yaml', { expected: scope.kind, strict: options.fieldValidation !== 'Ignore' });
  checkType(scope, value);
  const { unknownFields } = coerceObject(scope.schema, value);
  reportStrictness(response, options.fieldValidation, unknownFields, duplicateFields, (message) => strictBodyError(value, message));
  const object = withNamespace({ metadata: {}, ...value } as unknown as KubeObject, requestInfo.namespace);
  if (!object.metadata.name) return { ...object, metadata: { ...object.metadata, name: requestInfo.name } };
  checkName(object, requestInfo.name);
  return object;
};

/** A version that no object has: an apply that creates ignores it, one that would meet an object conflicts. */
const versionOfNothing = '1';

/** The patch, bound to the version that admission saw. */
const pinned = (patch: KubeObject, oldObject: KubeObject | undefined): KubeObject => {
  if (patch.metadata.resourceVersion !== undefined) return patch;
  return { ...patch, metadata: { ...patch.metadata, resourceVersion: oldObject?.metadata.resourceVersion ?? versionOfNothing } };
};

/** A conflict of versions, not of field managers: those list what they conflict over. */
const isVersionConflict = (error: unknown): boolean => hasCode(error, 409) && !error.status.details?.causes?.length;

const authorizeCreate = async ({ scope, response, requestInfo }: PatchInput): Promise<void> => {
  const { user } = contextOf(response);
  const attributes = { ...requestInfo, user, verb: 'create' };
  const decision = await scope.authorizer.authorize(attributes);
  if (!decision.allowed) throw forbidden(attributes, decision.reason);
};
