import type { Case } from '../case.ts';
import { around, bare, create, get } from './build.ts';

const strange: readonly [string, string, string][] = [
  ['an unknown subresource', 'GET', '<one>/scale'],
  ['a subresource of nothing', 'GET', '<all>/missing/scale'],
  ['an unknown resource', 'GET', '<root>/namespaces/<namespace>/nothings'],
  ['an unknown version', 'GET', '/apis/<group>/v9/namespaces/<namespace>/<plural>'],
  ['a delete of a subresource', 'DELETE', '<one>/status'],
  ['a create of a subresource', 'POST', '<one>/status'],
  ['an update of the collection', 'PUT', '<all>'],
  ['a patch of the collection', 'PATCH', '<all>'],
  ['an update over all namespaces', 'PUT', '<every>'],
  ['a patch over all namespaces', 'PATCH', '<every>'],
  ['a create over all namespaces', 'POST', '<every>'],
  ['a delete over all namespaces', 'DELETE', '<every>'],
  ['an object outside of namespaces', 'GET', '<every>/<name>'],
  ['a delete outside of namespaces', 'DELETE', '<every>/<name>'],
  ['a list in a namespace that is missing', 'GET', '<root>/namespaces/no-such-namespace/<plural>'],
  ['a get in a namespace that is missing', 'GET', '<root>/namespaces/no-such-namespace/<plural>/x'],
  ['a delete in a namespace that is missing', 'DELETE', '<root>/namespaces/no-such-namespace/<plural>/x'],
  ['a name that is no DNS name', 'GET', '<all>/A_b'],
  ['an escaped name', 'GET', '<all>/a%20b'],
  ['a HEAD of an object', 'HEAD', '<one>'],
  ['a HEAD of a list', 'HEAD', '<all>?labelSelector=none'],
  ['OPTIONS of an object', 'OPTIONS', '<one>'],
  ['OPTIONS of a list', 'OPTIONS', '<all>'],
];

const getQueries: readonly [string, string][] = [
  ['any version', '?resourceVersion=0'],
  ['its own version', '?resourceVersion=<0.metadata.resourceVersion>'],
  ['an old version', '?resourceVersion=1'],
  ['a version that is none', '?resourceVersion=x'],
  ['a negative version', '?resourceVersion=-1'],
  ['a version beyond numbers', '?resourceVersion=99999999999999999999'],
  ['pretty', '?pretty=true'],
  ['pretty that is none', '?pretty=maybe'],
  ['an unknown parameter', '?nothing=1'],
  ['a limit', '?limit=1'],
];

export const reads: readonly Case[] = [
  { name: 'get: an object', steps: around() },
  { name: 'get: a Tenant', kind: 'tenant', steps: [create(bare()), get()] },
  { name: 'get: a Gadget', kind: 'gadget', steps: [create(bare()), get()] },
  { name: 'get: the status of an object', steps: around(get('<one>/status')) },
  { name: 'get: what is not there', steps: [get()] },
  { name: 'get: the status of what is not there', steps: [get('<one>/status')] },
  { name: 'get: a Tenant that is not there', kind: 'tenant', steps: [get()] },
  ...getQueries.map(([what, query]): Case => ({ name: `get: with ${what}`, steps: [create(), get('<all>?resourceVersion=<0.metadata.resourceVersion>&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3D<name>'), get(`<one>${query}`)] })),
  { name: 'get: a future version', steps: [create(), get('<one>?resourceVersion=999999999')] },
  { name: 'get: what is not there, at any version', steps: [get('<one>?resourceVersion=0')] },
  ...strange.map(([what, method, path]): Case => ({ name: `path: ${what}`, steps: [create(), { method, path, ...(['PUT', 'POST', 'PATCH'].includes(method) && { body: bare(), ...(method === 'PATCH' && { type: 'application/merge-patch+json' }) }) }] })),
];
