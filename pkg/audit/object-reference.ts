import type { Attributes } from '../authorization/authorizer.ts';
import type { ObjectReference } from './event.ts';

/** The parts of a request's path that say what it is about. */
type RequestTarget = Pick<Attributes, 'isResourceRequest' | 'apiGroup' | 'apiVersion' | 'namespace' | 'resource' | 'subresource' | 'name'>;

/** What a request is about, as far as its path tells; undefined where it is not about a resource. */
export const objectReference = ({ isResourceRequest, resource, namespace, name, apiGroup, apiVersion, subresource }: RequestTarget): ObjectReference | undefined =>
  isResourceRequest
    ? {
        ...(resource && { resource }),
        ...(namespace && { namespace }),
        ...(name && { name }),
        ...(apiGroup && { apiGroup }),
        ...(apiVersion && { apiVersion }),
        ...(subresource && { subresource }),
      }
    : undefined;
