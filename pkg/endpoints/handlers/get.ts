import { contextOf } from '../context.ts';
import { checkVersion } from './list-options.ts';
import { negotiateObject, sendObject } from './object.ts';
import { reachVersion } from './read.ts';
import { queryOf, requestSignal, type VerbHandler } from './scope.ts';

/** Without a resourceVersion the host is asked; with one, the cache may answer, as the kube-apiserver's own may. */
export const get: VerbHandler = async (scope, request, response) => {
  const { namespace, name } = contextOf(response).requestInfo;
  const format = negotiateObject(request);
  const resourceVersion = queryOf(request).get('resourceVersion') ?? '';
  checkVersion(resourceVersion);
  const { store } = scope;
  const signal = requestSignal(response);
  if (resourceVersion && store.cache.complete) await reachVersion(store, Number(resourceVersion), signal);
  const cached = resourceVersion && store.cache.complete ? store.cache.get(namespace, name)?.object : undefined;
  sendObject(scope, request, response, 200, cached ?? (await store.get(namespace, name, signal)), format);
};
