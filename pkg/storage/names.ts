import { apiVersionOf, type ResourceDefinition } from '../../api/resource.ts';

/** The names under which a kind goes: the one that clients see, or the backing object's. */
export type ResourceNames = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'listKind' | 'plural' | 'namespaced'>;

/** Path of the collection, or of one object, or of one of its subresources. */
export const resourcePath = (names: ResourceNames, namespace?: string, name?: string, subresource?: string): string => {
  const parts = ['/apis', apiVersionOf(names)];
  if (namespace) parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(names.plural);
  if (name) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  return parts.join('/');
};
