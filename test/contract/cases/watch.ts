import type { Case, Step, Watch } from '../case.ts';
import { bare, create, createNamed, get, merge, object, remove, several } from './build.ts';

/** Opened, then what happens meanwhile; ends with so many lines, or by the server. */
const watch = (path: string, meanwhile: Step[], lines?: number, rest: Partial<Watch> = {}): Watch => ({ path, meanwhile, ...(lines !== undefined && { lines }), ...rest });

const changeLabels = (labels: object): Step => merge({ metadata: { labels } });
const ended = 'timeoutSeconds=1';
const initial = 'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';

const ends: readonly [string, string][] = [
  ['no version', ''],
  ['version 0', '&resourceVersion=0'],
  ['a version', '&resourceVersion=<1.metadata.resourceVersion>'],
  ['a version that is none', '&resourceVersion=x'],
  ['a version that is gone', '&resourceVersion=1'],
  ['bookmarks from a version', '&allowWatchBookmarks=true&resourceVersion=<1.metadata.resourceVersion>'],
  ['a match', '&resourceVersionMatch=NotOlderThan'],
  ['initial events', `&${initial}`],
  ['initial events from a version', `&${initial}&resourceVersion=<2.metadata.resourceVersion>`],
  ['initial events from version 0', `&${initial}&resourceVersion=0`],
  ['initial events without bookmarks', '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'],
  ['initial events without a match', '&sendInitialEvents=true&allowWatchBookmarks=true'],
  ['initial events and an exact match', '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=Exact'],
  ['no initial events', '&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'],
  ['no initial events from a version', '&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=<1.metadata.resourceVersion>'],
  ['a label', '&labelSelector=odd%3Dyes'],
  ['a bad label selector', '&labelSelector=%3D%3D'],
  ['a name', '&fieldSelector=metadata.name%3D<name>b'],
  ['a field that cannot be selected by', '&fieldSelector=spec.apex%3Dx'],
  ['a limit', '&limit=1'],
  ['a continue token', '&continue=x'],
  ['pretty', '&pretty=true'],
];

const accepts: readonly [string, string | null][] = [
  ['JSON', 'application/json'],
  ['nothing said', null],
  ['anything', '*/*'],
  ['a stream of JSON', 'application/json;stream=watch'],
  ['YAML', 'application/yaml'],
  ['a Table', 'application/json;as=Table;g=meta.k8s.io;v=v1'],
  ['metadata', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'],
  ['a list of metadata', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'],
  ['protobuf', 'application/vnd.kubernetes.protobuf'],
  ['metadata in protobuf', 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'],
  ['metadata in protobuf or JSON, as the garbage collector does', 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'],
  ['CBOR', 'application/cbor'],
  ['CBOR in sequence', 'application/cbor-seq'],
];

const metadataIn = (type: string): string => `${type};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const sockets: readonly [string, string[], Record<string, string>?, string?][] = [
  ['no subprotocol', []],
  ['a subprotocol', ['v4.channel.k8s.io']],
  ['a subprotocol of any name', ['anything']],
  ['two subprotocols', ['one', 'two']],
  ['as a Table', [], {}, 'application/json;as=Table;g=meta.k8s.io;v=v1'],
  ['metadata in JSON', [], {}, metadataIn('application/json')],
  ['metadata in protobuf', [], {}, metadataIn('application/vnd.kubernetes.protobuf')],
  ['YAML', [], {}, 'application/yaml'],
];

export const watches: readonly Case[] = [
  ...ends.map(([what, query]): Case => ({ name: `watch: from ${what}`, alone: true, steps: [...several(3), get('<all>?limit=1'), watch(`<all>?watch=1&${ended}${query}`, [])] })),
  ...accepts.map(([what, accept]): Case => ({ name: `watch: accepting ${what}`, alone: true, steps: [...several(2), get('<all>?limit=1'), watch(`<all>?watch=1&${ended}`, [], undefined, { accept })] })),
  ...['None', 'Metadata', 'Object', 'Wrong'].map(
    (include): Case => ({
      name: `watch: Tables with ${include}`,
      alone: true,
      steps: [...several(2), watch(`<all>?watch=1&${ended}&includeObject=${include}`, [], undefined, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })],
    }),
  ),
  { name: 'watch: as Tables with initial events', alone: true, steps: [...several(2), watch(`<all>?watch=1&${ended}&${initial}`, [], undefined, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })] },
  { name: 'watch: as metadata with initial events', alone: true, steps: [...several(2), watch(`<all>?watch=1&${ended}&${initial}`, [], undefined, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' })] },
  { name: 'watch: an object comes, changes and goes', alone: true, steps: [watch('<all>?watch=1', [create(), merge({ spec: { apex: 'example.net' } }), remove()], 3)] },
  { name: 'watch: what is there, and then changes', alone: true, steps: [create(), watch('<all>?watch=1', [merge({ spec: { apex: 'example.net' } }), merge({ spec: { apex: 'example.net' } }), remove()], 3)] },
  { name: 'watch: from a version, the past', alone: true, steps: [create(), merge({ spec: { apex: 'example.net' } }), remove(), watch('<all>?watch=1&resourceVersion=<0.metadata.resourceVersion>', [createNamed('z')], 3)] },
  { name: 'watch: what is held goes', alone: true, steps: [create(object({}, { finalizers: ['example.org/held'] })), watch('<all>?watch=1', [remove(), merge({ metadata: { finalizers: null } })], 3)] },
  { name: 'watch: a Tenant', kind: 'tenant', alone: true, steps: [watch('<all>?watch=1', [create(bare()), merge({ spec: { etcd: true } })], 2)] },
  { name: 'watch: one begins to be selected', alone: true, steps: [create(), watch('<all>?watch=1&labelSelector=a%3Db', [changeLabels({ a: 'b' })], 1)] },
  { name: 'watch: one ends to be selected', alone: true, steps: [create(object({}, { labels: { a: 'b' } })), watch('<all>?watch=1&labelSelector=a%3Db', [changeLabels({ a: 'c' })], 2)] },
  { name: 'watch: in and out of a selection', alone: true, steps: [create(), watch('<all>?watch=1&labelSelector=a%3Db', [changeLabels({ a: 'b' }), merge({ spec: { apex: 'example.net' } }), changeLabels({ a: null }), changeLabels({ a: 'b' }), remove()], 5)] },
  { name: 'watch: one that was never selected goes', alone: true, steps: [create(), watch('<all>?watch=1&labelSelector=a%3Db', [remove(), createNamed('z', { labels: { a: 'b' } })], 1)] },
  { name: 'watch: in and out by a field', kind: 'gadget', alone: true, steps: [create(bare({ spec: { choice: 'one' } })), watch('<all>?watch=1&fieldSelector=spec.choice%3Dtwo', [merge({ spec: { choice: 'two' } }), merge({ spec: { level: 4 } }), merge({ spec: { choice: 'one' } })], 3)] },
  { name: 'watch: the past, selected', alone: true, steps: [create(), changeLabels({ a: 'b' }), changeLabels({ a: 'c' }), remove(), watch('<all>?watch=1&resourceVersion=<0.metadata.resourceVersion>&labelSelector=a%3Db', [createNamed('z', { labels: { a: 'b' } })], 3)] },
  { name: 'watch: one object by a field selector', alone: true, steps: [...several(2), watch('<all>?watch=1&fieldSelector=metadata.name%3D<name>b', [createNamed('c'), { method: 'DELETE', path: '<all>/<name>b' }], 2)] },
  { name: 'watch: one object by a field selector, over all namespaces', alone: true, steps: [...several(2), watch('<every>?watch=1&fieldSelector=metadata.name%3D<name>b', [createNamed('c'), { method: 'DELETE', path: '<all>/<name>b' }], 2)] },
  { name: 'watch: one object by its path', alone: true, steps: [create(), createNamed('b'), watch('<one>?watch=1', [])] },
  { name: 'watch: a deprecated path', alone: true, steps: [...several(2), watch(`<root>/watch/namespaces/<namespace>/<plural>?${ended}`, [])] },
  { name: 'watch: a deprecated path of one object', alone: true, steps: [create(), createNamed('b'), watch(`<root>/watch/namespaces/<namespace>/<plural>/<name>?${ended}`, [])] },
  { name: 'watch: a deprecated path over all namespaces', alone: true, steps: [createNamed('a', { labels: { only: '<namespace>' } }), watch(`<root>/watch/<plural>?${ended}&labelSelector=only%3D<namespace>`, [])] },
  { name: 'watch: over all namespaces', alone: true, steps: [watch('<every>?watch=1&labelSelector=only%3D<namespace>', [createNamed('a', { labels: { only: '<namespace>' } })], 1)] },
  { name: 'watch: in a namespace that is missing', steps: [watch(`<root>/namespaces/no-such-namespace/<plural>?watch=1&${ended}`, [])] },
  ...sockets.map(
    ([what, protocols, headers, accept]): Case => ({
      name: `watch: over WebSocket, ${what}`,
      alone: true,
      steps: [...several(2), watch(`<all>?watch=1&${ended}`, [], undefined, { webSocket: protocols, headers: { origin: 'https://example.org', ...headers }, accept: accept ?? 'application/json' })],
    }),
  ),
  { name: 'watch: over WebSocket, without origin', alone: true, steps: [...several(2), watch(`<all>?watch=1&${ended}`, [], undefined, { webSocket: [] })] },
  { name: 'watch: over WebSocket, what happens', alone: true, steps: [watch('<all>?watch=1', [create(), merge({ spec: { apex: 'example.net' } }), remove()], 3, { webSocket: [], headers: { origin: 'https://example.org' } })] },
  { name: 'watch: over WebSocket, a version that is gone', alone: true, steps: [watch('<all>?watch=1&resourceVersion=1', [], undefined, { webSocket: [], headers: { origin: 'https://example.org' } })] },
  { name: 'watch: over WebSocket, a bad selector', alone: true, steps: [watch('<all>?watch=1&labelSelector=%3D%3D', [], undefined, { webSocket: [], headers: { origin: 'https://example.org' } })] },
  { name: 'watch: over WebSocket, no watch', alone: true, steps: [watch('<all>', [], undefined, { webSocket: [], headers: { origin: 'https://example.org' } })] },
  { name: 'watch: nothing', alone: true, steps: [watch(`<all>?watch=1&${ended}`, [])] },
  { name: 'watch: a version too large', alone: true, steps: [watch(`<all>?watch=1&timeoutSeconds=4&resourceVersion=999999999`, [])] },
  { name: 'watch: initial events from a version too large', alone: true, steps: [watch(`<all>?watch=1&timeoutSeconds=4&${initial}&resourceVersion=999999999`, [])] },
  { name: 'watch: compressed', alone: true, steps: [...several(2), watch(`<all>?watch=1&${ended}`, [], undefined, { headers: { 'accept-encoding': 'gzip' } })] },
  { name: 'watch: a HEAD', alone: true, steps: [watch(`<all>?watch=1&${ended}`, [], undefined, { method: 'HEAD' })] },
];
