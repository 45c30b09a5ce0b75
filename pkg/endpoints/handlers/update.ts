import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { writeAdmitted } from '../../admission/chain.ts';
import { readBody } from '../body.ts';
import { contextOf } from '../context.ts';
import { bodyMediaType } from '../negotiation.ts';
import type { Subresource } from '../../storage/store.ts';
import { checkName, decodeObject, negotiateObject, sendObject, withNamespace } from './object.ts';
import { attributesOf, queryOf, requestSignal, warnerOf, type RequestScope, type VerbHandler } from './scope.ts';
import { requireTypes } from './types.ts';
import { parseWriteOptions } from './write-options.ts';

export const update: VerbHandler = async (scope, request, response) => {
  const { requestInfo } = contextOf(response);
  const { namespace, name } = requestInfo;
  const format = negotiateObject(request);
  const body = await readBody(request);
  const options = parseWriteOptions(queryOf(request), request.headers['user-agent'], 'UpdateOptions');
  const mediaType = bodyMediaType(request.headers['content-type']);
  const signal = requestSignal(response);
  const object = withNamespace(decodeObject(scope, response, body, mediaType, options.fieldValidation), namespace);
  checkName(object, name);

  const oldObject = await currentFor(scope, object, signal);
  const attributes = attributesOf(scope, response, 'UPDATE', { name, object, oldObject, dryRun: options.dryRun });
  await scope.admission.mutate(attributes);
  if (!requestInfo.subresource) await requireTypes(scope, attributes.object!, () => scope.store.update(attributes.object!, { ...options, dryRun: true, signal }));
  await scope.admission.validate(attributes);
  const updated = await writeAdmitted(attributes, signal, () => scope.store.update(attributes.object!, { ...options, signal, warn: warnerOf(response) }, requestInfo.subresource as Subresource));
  sendObject(scope, request, response, 200, updated, format);
};

/**
 * The object that an update replaces. Where the client names the version that the cache holds, that is the one: if
 * it is no longer the live one, the write fails with a conflict.
 */
const currentFor = async ({ store }: RequestScope, object: KubeObject, signal: AbortSignal): Promise<KubeObject> => {
  const { namespace, name, resourceVersion } = object.metadata;
  const cached = store.cache.get(namespace!, name!)?.object;
  if (resourceVersion && cached?.metadata.resourceVersion === resourceVersion) return cached;
  return store.get(namespace!, name!, signal);
};
