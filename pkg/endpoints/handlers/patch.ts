import { contextOf } from '../context.ts';
import { readBody } from '../body.ts';
import { inputMediaType } from '../negotiation.ts';
import { applyPatch } from './patch-apply.ts';
import { jsonPatch } from './patch-json.ts';
import { negotiateObject, sendObject } from './object.ts';
import { queryOf, requestSignal, type VerbHandler } from './scope.ts';
import { parseWriteOptions } from './write-options.ts';

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'] as const;

export const patch: VerbHandler = async (scope, request, response) => {
  const { requestInfo } = contextOf(response);
  const patchType = inputMediaType(request.headers['content-type'], patchTypes);
  const format = negotiateObject(request);
  const body = await readBody(request);
  const options = parseWriteOptions(queryOf(request), request.headers['user-agent'], 'PatchOptions', patchType === 'application/apply-patch+yaml');
  const input = { scope, response, body, options, requestInfo, signal: requestSignal(response) };
  const { object, created } =
    patchType === 'application/apply-patch+yaml' ? await applyPatch(input) : { object: await jsonPatch({ ...input, patchType }), created: false };
  sendObject(scope, request, response, created ? 201 : 200, object, format);
};
