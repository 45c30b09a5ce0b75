import { contextOf } from '../context.ts';
import { checkVersion } from './list-options.ts';
import { negotiateObject, sendObject } from './object.ts';
import { queryOf, requestSignal, type VerbHandler } from './scope.ts';

/** Without a resourceVersion the host is asked; with one, the cache may answer, as the kube-apiserver's own may. */
export const get: VerbHandler = async (scope, request, response) => {
  const { namespace, name } = contextOf(response).requestInfo;
  const format = negotiateObject(request);
  const resourceVersion = queryOf(request).get('resourceVersion') ?? '';
  checkVersion(resourceVersion);
  const { cache } = scope.store;
  const cached = resourceVersion && cache.complete && cache.version >= Number(resourceVersion) ? cache.get(namespace, name)?.object : undefined;
  sendObject(scope, request, response, 200, cached ?? (await scope.store.get(namespace, name, requestSignal(response))), format);
};
