import type { ResourceDefinition } from '../../../api/resource.ts';

/** A kind together with what may be done with it: what discovery and the OpenAPI documents are made from. */
export interface ServedResource {
  definition: ResourceDefinition;
  /** In the order in which discovery lists them. */
  verbs: readonly string[];
  /** Verbs of the status subresource; absent where there is none. */
  statusVerbs?: readonly string[];
}

/** The verbs of a CustomResourceDefinition with the status subresource, in its order. */
export const servedAsCustomResource = (definition: ResourceDefinition): ServedResource => ({
  definition,
  verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
  statusVerbs: ['get', 'patch', 'update'],
});

/** Groups with their versions, both in the order in which they first appear, each version with its resources. */
export const groupsOf = (resources: readonly ServedResource[]): { group: string; versions: { version: string; resources: ServedResource[] }[] }[] => {
  const groups = Map.groupBy(resources, ({ definition }) => definition.group);
  return [...groups].map(([group, served]) => ({
    group,
    versions: [...Map.groupBy(served, ({ definition }) => definition.version)].map(([version, ofVersion]) => ({ version, resources: ofVersion })),
  }));
};
