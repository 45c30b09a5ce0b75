import type { KubeObject } from '../../api/meta/v1/types.ts';

/**
 * One version of one object, kept as its JSON: that is what lists and watches are made of, and a third of what the parsed
 * object would take. Immutable.
 */
export class CacheEntry {
  readonly key: string;
  readonly namespace: string;
  /** resourceVersion as a number: versions of one etcd are ordered (KEP-5504) and below 2^53. */
  readonly version: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly json: string;

  constructor(object: KubeObject, version = versionOf(object)) {
    const { namespace = '', name = '', labels } = object.metadata;
    this.key = keyOf(namespace, name);
    this.namespace = namespace;
    this.version = version;
    this.labels = labels;
    this.json = JSON.stringify(object);
  }

  get name(): string {
    return this.key.slice(this.namespace.length + 1);
  }

  /** The object, parsed anew at each call: the caller's own to change. */
  get object(): KubeObject {
    return JSON.parse(this.json) as KubeObject;
  }
}

/** The key under which etcd orders an object within its collection. */
export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

export const versionOf = (object: KubeObject): number => Number(object.metadata.resourceVersion);
