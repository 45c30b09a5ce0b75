import type { RequestHandler } from 'express';
import { StatusError } from '../kube/status-error.ts';
import { contextOf } from './context.ts';
import { create } from './handlers/create.ts';
import { deleteCollection, deleteObject } from './handlers/delete.ts';
import { get } from './handlers/get.ts';
import { list } from './handlers/list.ts';
import { patch } from './handlers/patch.ts';
import { sendPlainNotFound } from './respond.ts';
import type { RequestScope, VerbHandler } from './handlers/scope.ts';
import { update } from './handlers/update.ts';
import { watch } from './handlers/watch.ts';

const objectVerbs: Readonly<Record<string, VerbHandler>> = { get, list, watch, create, update, patch, delete: deleteObject, deletecollection: deleteCollection };
const statusVerbs: Readonly<Record<string, VerbHandler>> = { get, update, patch };
/** Verbs for one object. */
const namedVerbs = new Set(['get', 'update', 'patch', 'delete']);
/** Verbs that have a meaning over all namespaces. */
const clusterVerbs = new Set(['list', 'watch']);

/** Hands resource requests to the verb's handler; anything that is not ours goes on to the next handler. */
export const resourceHandler = (scopeOf: (group: string, version: string, resource: string) => RequestScope | undefined): RequestHandler =>
  async (request, response, next) => {
    const { requestInfo } = contextOf(response);
    const { verb, subresource, namespace, parts } = requestInfo;
    const scope = requestInfo.isResourceRequest ? scopeOf(requestInfo.apiGroup, requestInfo.apiVersion, requestInfo.resource) : undefined;
    if (!scope) return next();
    const { name } = requestInfo;
    if (parts.length > 3 || (subresource !== '' && subresource !== 'status')) {
      throw StatusError.notFound({ group: requestInfo.apiGroup, resource: requestInfo.resource }, name);
    }
    const handler = (subresource ? statusVerbs : objectVerbs)[verb];
    if (namespace === '' && !clusterVerbs.has(verb)) return sendPlainNotFound(response);
    if (!handler) {
      throw StatusError.methodNotAllowed({ group: requestInfo.apiGroup, resource: requestInfo.resource }, verb);
    }
    if (name === '' && namedVerbs.has(verb)) throw StatusError.badRequest('name must be provided');
    await handler(scope, request, response);
  };
