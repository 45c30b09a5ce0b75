import type { ResourceDefinition } from '../../../api/resource.ts';
import type { ServedResource } from './served.ts';

/** The operations of a resource, as both versions of OpenAPI describe them. */
export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'integer' | 'boolean';
  description: string;
}

type Model = 'object' | 'list' | 'status' | 'patch' | 'deleteOptions';

export interface Operation {
  method: 'get' | 'put' | 'post' | 'patch' | 'delete';
  id: string;
  action: string;
  description: string;
  parameters: Parameter[];
  body?: { model: Model; required: boolean; mediaTypes: readonly string[] };
  responses: { code: string; description: string; model: Model }[];
}

export interface PathOperations {
  path: string;
  /** Parameters that all operations of the path share. */
  parameters: Parameter[];
  operations: Operation[];
}

/** What can be asked for and given, besides patches. */
export const mediaTypes = ['application/json', 'application/yaml'] as const;
export const patchMediaTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'] as const;

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({ name, in: 'query', type, description });

const namespaceParameter: Parameter = { name: 'namespace', in: 'path', type: 'string', description: 'Namespace of the object.' };
const pretty = query('pretty', 'string', 'Whether the answer is indented; where absent, it is for browsers, curl and wget.');
const resourceVersion = query('resourceVersion', 'string', 'Version that the answer must show, or be as new as; `0` allows any. Unset means the most recent.');
const dryRun = query('dryRun', 'string', 'Run all stages of the request without keeping its result; the only value is `All`.');
const fieldManager = query('fieldManager', 'string', 'Name of whoever changes the fields, at most 128 printable characters. Defaults to the beginning of the User-Agent.');
const fieldValidation = query('fieldValidation', 'string', 'What happens to unknown and duplicate fields: `Ignore` drops them, `Warn` (the default) warns as well, `Strict` refuses the request.');
const force = query('force', 'boolean', 'Take over fields that conflict with another manager; only for apply.');

const listParameters: Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may send events of type BOOKMARK, which only tell how far it has come.'),
  query('continue', 'string', 'Token of the page before, which brings the next one; all other parameters must be the same. An expired one is answered with 410 and a token to go on with.'),
  query('fieldSelector', 'string', 'Restricts the list to objects whose fields match.'),
  query('labelSelector', 'string', 'Restricts the list to objects whose labels match.'),
  query('limit', 'integer', 'Most items that one answer may have; `continue` of its metadata brings more. All pages show the same version.'),
  resourceVersion,
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: `Exact`, or `NotOlderThan`.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with the present objects, followed by a bookmark that says so; takes resourceVersionMatch=NotOlderThan.'),
  query('timeoutSeconds', 'integer', 'Longest duration of the list or watch.'),
  query('watch', 'boolean', 'Stream changes from resourceVersion on instead of answering with a list.'),
];

const deleteParameters: Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds until the object is deleted; 0 means at once.'),
  query('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean', 'Delete an object that can no longer be read from storage, past finalizers and preconditions.'),
  query('orphanDependents', 'boolean', 'Deprecated in favour of propagationPolicy: whether dependents are kept.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: `Orphan`, `Background` or `Foreground`.'),
];

/** `appsCozystackIo` for `apps.cozystack.io`. */
const camelGroup = (group: string): string => group.replaceAll(/[.-](.)/g, (_match, first: string) => first.toUpperCase());
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The tag of a group version's operations. */
export const operationTag = ({ group, version }: ResourceDefinition): string => `${camelGroup(group)}_${version}`;

const ok = (model: Model): Operation['responses'][number] => ({ code: '200', description: 'OK', model });
const created: Operation['responses'][number] = { code: '201', description: 'Created', model: 'object' };

/** Every path of a resource with its operations; one that the resource's verbs do not allow is left out. */
export const pathsOf = ({ definition, verbs, statusVerbs = [] }: ServedResource): PathOperations[] => {
  const { group, version, plural, kind } = definition;
  const root = `/apis/${group}/${version}`;
  const named: Parameter[] = [{ name: 'name', in: 'path', type: 'string', description: `Name of the ${kind}.` }, namespaceParameter, pretty];
  const id = (verb: string, rest: string): string => `${verb}${capital(camelGroup(group))}${capital(version)}${rest}`;
  const list = (rest: string, parameters: Parameter[]): Operation => ({
    method: 'get', id: id('list', rest), action: 'list', description: `list objects of kind ${kind}`, parameters, responses: [ok('list')],
  });
  const post: Operation = {
    method: 'post', id: id('create', `Namespaced${kind}`), action: 'post', description: `create a ${kind}`, parameters: [dryRun, fieldManager, fieldValidation],
    body: { model: 'object', required: true, mediaTypes }, responses: [ok('object'), created, { code: '202', description: 'Accepted', model: 'object' }],
  };
  const deleteCollection: Operation = {
    method: 'delete', id: id('delete', `CollectionNamespaced${kind}`), action: 'deletecollection', description: `delete collection of ${kind}`, parameters: listParameters,
    responses: [ok('status')],
  };
  const one = (subresource: string): Record<'get' | 'update' | 'patch', Operation> => {
    const of = subresource ? `${subresource} of ` : '';
    const rest = `Namespaced${kind}${capital(subresource)}`;
    return {
      get: { method: 'get', id: id('read', rest), action: 'get', description: `read ${of}the specified ${kind}`, parameters: [resourceVersion], responses: [ok('object')] },
      update: {
        method: 'put', id: id('replace', rest), action: 'put', description: `replace ${of}the specified ${kind}`, parameters: [dryRun, fieldManager, fieldValidation],
        body: { model: 'object', required: true, mediaTypes }, responses: [ok('object'), created],
      },
      patch: {
        method: 'patch', id: id('patch', rest), action: 'patch', description: `partially update ${of}the specified ${kind}`,
        parameters: [dryRun, fieldManager, fieldValidation, force], body: { model: 'patch', required: true, mediaTypes: patchMediaTypes }, responses: [ok('object')],
      },
    };
  };
  const remove: Operation = {
    method: 'delete', id: id('delete', `Namespaced${kind}`), action: 'delete', description: `delete a ${kind}`, parameters: deleteParameters,
    body: { model: 'deleteOptions', required: false, mediaTypes }, responses: [ok('status'), { code: '202', description: 'Accepted', model: 'status' }],
  };
  const allowed = (operations: Partial<Record<string, Operation>>, by: readonly string[]): Operation[] =>
    Object.entries(operations).flatMap(([verb, operation]) => (operation && by.includes(verb) ? [operation] : []));

  const collection = `${root}/namespaces/{namespace}/${plural}`;
  return [
    { path: collection, parameters: [namespaceParameter, pretty], operations: allowed({ list: list(`Namespaced${kind}`, listParameters), create: post, deletecollection: deleteCollection }, verbs) },
    { path: `${collection}/{name}`, parameters: named, operations: allowed({ ...one(''), delete: remove }, verbs) },
    { path: `${collection}/{name}/status`, parameters: named, operations: allowed(one('status'), statusVerbs) },
    { path: `${root}/${plural}`, parameters: [pretty, ...listParameters], operations: allowed({ list: list(`${kind}ForAllNamespaces`, []) }, verbs) },
  ].filter(({ operations }) => operations.length > 0);
};
