/** What a request is about, read from its method, path and query as apiserver's RequestInfo reads it. */
export interface RequestInfo {
  isResourceRequest: boolean;
  /** URL path without the query. */
  path: string;
  /** API verb (get, list, watch, create, update, patch, delete, deletecollection); for non-resource paths the method in lower case. */
  verb: string;
  apiPrefix: string;
  apiGroup: string;
  apiVersion: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  /** The path's parts from the resource on. */
  parts: readonly string[];
  /** Unparsed selectors of list, watch and deletecollection requests. */
  fieldSelector?: string;
  labelSelector?: string;
}
