import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { writeAdmitted, type AdmissionAttributes } from '../../admission/chain.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import type { ApplyOptions, Subresource } from '../../storage/store.ts';
import { contextOf } from '../context.ts';
import { forbidden } from '../../authorization/forbidden.ts';
import { jsonTypeOf } from '../structural/decode.ts';
import { isObject } from '../../json/object.ts';
import { strictWarnings } from '../structural/strict.ts';
import { parseYaml } from '../structural/yaml.ts';
import { checkName, withNamespace } from './object.ts';
import type { PatchInput } from './patch-json.ts';
import { attributesOf, currentObject, warnerOf } from './scope.ts';

const conflictRetries = 5;

/**
 * Server-side apply. The host works out the result by a dry run; admission judges it; then it is applied upon the very
 * version that was judged, anew if that has changed meanwhile.
 */
export const applyPatch = async (input: PatchInput): Promise<{ object: KubeObject; created: boolean }> => {
  const { scope, requestInfo, signal } = input;
  const { namespace, name } = requestInfo;
  const subresource = requestInfo.subresource as Subresource;
  const { patch, duplicates } = decodePatch(input);
  const options: ApplyOptions = { namespace, fieldManager: input.options.fieldManager, force: input.options.force ?? false, signal, warn: warnerOf(input.response) };

  const pinnedByClient = patch.metadata.resourceVersion !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    const cached = attempt === 1 && !pinnedByClient;
    const oldObject = await currentObject(scope, namespace, name, signal, cached);
    try {
      const { result, attributes } = await judge(input, patch, duplicates, oldObject, options, subresource);
      const admitted = attributes.object!;
      if (input.options.dryRun) return { object: admitted, created: oldObject === undefined };
      return await writeAdmitted(attributes, signal, () => scope.store.apply(pinned(withAddedFinalizers(patch, result, admitted), oldObject), options, subresource));
    } catch (error) {
      if (!isVersionConflict(error) || pinnedByClient || attempt > conflictRetries) throw error;
    }
  }
};

/** The result of the apply, also as admission has changed it, once the caller may create it (where it is new) and admission has let it pass. */
const judge = async (input: PatchInput, patch: KubeObject, duplicates: readonly string[], oldObject: KubeObject | undefined, options: ApplyOptions, subresource: Subresource): Promise<{ result: KubeObject; attributes: AdmissionAttributes }> => {
  const { scope, response, requestInfo } = input;
  if (!oldObject) await authorizeCreate(input);
  const { object } = await scope.store.apply(pinned(patch, oldObject), { ...options, dryRun: true }, subresource);
  const result = oldObject || patch.metadata.resourceVersion !== undefined ? object : withoutVersion(object);
  reportDuplicates(input, duplicates);
  const attributes = attributesOf(scope, response, oldObject ? 'UPDATE' : 'CREATE', {
    name: requestInfo.name,
    object: result,
    ...(oldObject && { oldObject }),
    dryRun: input.options.dryRun,
  });
  await scope.admission.mutate(attributes);
  await scope.admission.validate(attributes);
  return { result, attributes };
};

/** The patch with the finalizers that admission has added: what is there from the start must be there with the first write. */
const withAddedFinalizers = (patch: KubeObject, result: KubeObject, admitted: KubeObject): KubeObject => {
  const added = (admitted.metadata.finalizers ?? []).filter((finalizer) => !result.metadata.finalizers?.includes(finalizer));
  if (added.length === 0) return patch;
  return { ...patch, metadata: { ...patch.metadata, finalizers: [...(patch.metadata.finalizers ?? []), ...added] } };
};

/**
 * The patch as it was written: neither pruned nor defaulted, or the caller would own fields that it does not name. What
 * the schema does not know is for the host to refuse, whatever fieldValidation says.
 * @throws StatusError 400 in the kube-apiserver's words
 */
const decodePatch = ({ scope, body, requestInfo }: PatchInput): { patch: KubeObject; duplicates: string[] } => {
  const { value, duplicates, error } = parseYaml(body);
  if (error !== undefined) throw StatusError.badRequest(`error decoding patch: error converting YAML to JSON: ${error}`);
  const unreadable = (part: unknown, into: string): StatusError =>
    StatusError.badRequest(`error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeOf(part)} into Go ${into}`);
  if (value !== null && value !== undefined && !isObject(value)) throw unreadable(value, 'value of type map[string]interface {}');
  const { apiVersion = '', kind = '', metadata } = (value ?? {}) as Record<string, unknown>;
  if (apiVersion !== apiVersionOf(scope.definition) || kind !== scope.kind.kind) throw StatusError.badRequest(`invalid object type: ${typeText(apiVersion, kind)}`);
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) throw unreadable(metadata, 'struct field .metadata of type v1.ObjectMeta');
  const patch = { ...(value as unknown as KubeObject), metadata: { ...metadata } };
  withNamespace(patch, requestInfo.namespace); // what it does not name must not be filled in: errors tell what was sent
  checkName(patch, requestInfo.name);
  return { patch, duplicates };
};

/** `group/version, Kind=kind`, with empty parts for what is missing. */
const typeText = (apiVersion: unknown, kind: unknown): string => {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
};

/** Keys that occur twice are told of only where the patch can be applied. */
const reportDuplicates = ({ response, options }: PatchInput, duplicates: readonly string[]): void => {
  if (duplicates.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') throw StatusError.badRequest(`error strict decoding patch: error converting YAML to JSON: ${duplicates.join(', ')}`);
  for (const warning of strictWarnings([], duplicates)) contextOf(response).warnings.add(warning);
};

/** A version that no object has: an apply that creates ignores it, one that would meet an object conflicts. */
const versionOfNothing = '1';

/**
 * The patch, bound to the object and version that admission saw. The uid keeps it from making anew what was deleted
 * meanwhile: that would take a permission to create.
 */
const pinned = (patch: KubeObject, oldObject: KubeObject | undefined): KubeObject => {
  const { uid, resourceVersion = versionOfNothing } = oldObject?.metadata ?? {};
  return { ...patch, metadata: { ...(uid && { uid }), resourceVersion, ...patch.metadata } };
};

/** What a dry run makes new has no version; the one that it was pinned to comes back with it. */
const withoutVersion = (object: KubeObject): KubeObject => {
  const { resourceVersion: _pinned, ...metadata } = object.metadata;
  return { ...object, metadata };
};

/** A conflict of versions, not of field managers: those list what they conflict over. */
const isVersionConflict = (error: unknown): boolean => hasCode(error, 409) && !error.status.details?.causes?.length;

const authorizeCreate = async ({ scope, response, requestInfo }: PatchInput): Promise<void> => {
  const { user } = contextOf(response);
  const attributes = { ...requestInfo, user, verb: 'create' };
  const decision = await scope.authorizer.authorize(attributes);
  if (!decision.allowed) throw forbidden(attributes, decision.reason);
};
