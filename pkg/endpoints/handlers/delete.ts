import type { Request, Response } from 'express';
import type { DeleteOptions, KubeObject } from '../../../api/meta/v1/types.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import { readBody } from '../body.ts';
import { contextOf } from '../context.ts';
import { bodyMediaType, objectOffer, negotiate } from '../negotiation.ts';
import { sendValue } from '../respond.ts';
import { noKind, notTyped } from '../structural/decode.ts';
import { JsonSyntaxError, scanJson } from '../structural/json-scan.ts';
import { isObject } from '../../json/object.ts';
import { parseYaml } from '../structural/yaml.ts';
import { sendList } from './list.ts';
import { parseListOptions } from './list-options.ts';
import { negotiateObject, sendObject } from './object.ts';
import { readPage } from './read.ts';
import { attributesOf, queryOf, requestSignal, warnerOf, type VerbHandler } from './scope.ts';
import { checkedDeleteOptions, deleteOptionsOf, validateDeleteOptions } from './write-options.ts';

export const deleteObject: VerbHandler = async (scope, request, response) => {
  const { namespace, name } = contextOf(response).requestInfo;
  const format = negotiateObject(request);
  const options = await readDeleteOptions(request, response);
  const signal = requestSignal(response);
  const attributes = attributesOf(scope, response, 'DELETE', { name, dryRun: isDryRun(options) });
  if (scope.admission.handles(attributes)) {
    attributes.oldObject = await scope.store.get(namespace, name, signal);
    await scope.admission.validate(attributes);
  }
  const { code, body } = await scope.store.delete(namespace, name, options, { signal, warn: warnerOf(response) });
  if (body.kind === 'Status') {
    contextOf(response).audit?.responseObject(body);
    sendValue(response, code, body, format);
  } else sendObject(scope, request, response, code, body as KubeObject, format);
};

/** Deletes what a selector selects, one by one, each as admission allows; the answer lists them as they were. */
export const deleteCollection: VerbHandler = async (scope, request, response) => {
  const { requestInfo } = contextOf(response);
  const query = queryOf(request);
  const format = negotiate(request.headers.accept, query, request.headers['user-agent'], objectOffer);
  const options = await readDeleteOptions(request, response);
  const listOptions = parseListOptions(query, requestInfo, scope.definition, false);
  const signal = requestSignal(response, 60_000);
  // As the kube-apiserver, which reads page by page: a version that is named is the one that is listed.
  const page = await readPage(scope.store, { ...listOptions, limit: listOptions.limit || Number.MAX_SAFE_INTEGER }, signal);
  for (const entry of page.entries) {
    const { name } = entry;
    await scope.admission.validate(attributesOf(scope, response, 'DELETE', { name, oldObject: entry.object, dryRun: isDryRun(options) }));
    try {
      await scope.store.delete(entry.namespace, name, options, { signal, warn: warnerOf(response) });
    } catch (error) {
      if (!hasCode(error, 404)) throw error; // gone already: that was the aim
    }
  }
  await sendList(scope, request, response, page, format);
};

const isDryRun = ({ dryRun }: DeleteOptions): boolean => dryRun !== undefined && dryRun.length > 0;

/** From the body, or from the query where there is none. @throws StatusError 400, 415, 422 */
const readDeleteOptions = async (request: Request, response: Response): Promise<DeleteOptions> => {
  const body = await readBody(request);
  const options = body.length === 0 ? deleteOptionsOf(queryOf(request)) : decodeDeleteOptions(body, request.headers['content-type']);
  if (body.length > 0) contextOf(response).audit?.requestObject({ kind: 'DeleteOptions', apiVersion: auditedVersion, ...options });
  validateDeleteOptions(options);
  return options;
};

/** What the kube-apiserver's events call it, whatever version was sent. */
const auditedVersion = 'meta.k8s.io/__internal';

const decodeDeleteOptions = (body: Buffer, contentType: string | undefined): DeleteOptions => {
  const mediaType = bodyMediaType(contentType);
  const value = (mediaType === 'application/json' ? parseJson(body) : yamlValue(body)) ?? {};
  if (!isObject(value)) throw StatusError.badRequest(notTyped(value));
  const { kind, apiVersion: _version, ...options } = value;
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') throw StatusError.badRequest(`the body of a delete must be DeleteOptions, not ${JSON.stringify(kind)}`);
  return checkedDeleteOptions(options);
};

const parseJson = (body: Buffer): unknown => {
  try {
    scanJson(body);
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw StatusError.badRequest(noKind + error.message, error);
    throw error;
  }
};

const yamlValue = (body: Buffer): unknown => {
  const { value, error } = parseYaml(body);
  if (error !== undefined) throw StatusError.badRequest(error);
  return value;
};
