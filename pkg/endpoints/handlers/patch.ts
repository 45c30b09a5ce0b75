import { contextOf } from '../context.ts';
import { readBody } from '../body.ts';
import { inputMediaType } from '../negotiation.ts';
import { applyPatch } from './patch-apply.ts';
import { jsonPatch } from './patch-json.ts';
import { negotiateObject, sendObject } from './object.ts';
import { queryOf, requestSignal, type VerbHandler } from './scope.ts';
import { parseYaml } from '../structural/yaml.ts';
import { parseWriteOptions } from './write-options.ts';

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'] as const;

/** A patch as data; undefined where it cannot be read. */
const decoded = (body: Buffer, patchType: (typeof patchTypes)[number]): unknown => {
  if (patchType === 'application/apply-patch+yaml') return parseYaml(body).value;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
};

export const patch: VerbHandler = async (scope, request, response) => {
  const { requestInfo } = contextOf(response);
  const patchType = inputMediaType(request.headers['content-type'], patchTypes);
  const format = negotiateObject(request);
  const body = await readBody(request);
  const options = parseWriteOptions(queryOf(request), request.headers['user-agent'], 'PatchOptions', patchType === 'application/apply-patch+yaml');
  const { audit } = contextOf(response);
  if (audit?.wantsRequest) audit.requestPatch(decoded(body, patchType));
  const input = { scope, response, body, options, requestInfo, signal: requestSignal(response) };
  const { object, created } =
    patchType === 'application/apply-patch+yaml' ? await applyPatch(input) : { object: await jsonPatch({ ...input, patchType }), created: false };
  sendObject(scope, request, response, created ? 201 : 200, object, format);
};
