import type { KubeObject } from '../../api/meta/v1/types.ts';

/**
 * One version of one object. Immutable; whoever needs another form of it encodes it once and keeps it here, so that
 * lists and watches share the bytes.
 */
export class CacheEntry {
  readonly key: string;
  readonly object: KubeObject;
  /** resourceVersion as a number: versions of one etcd are ordered (KEP-5504) and below 2^53. */
  readonly version: number;
  readonly #encoded = new Map<string, Buffer>();

  constructor(object: KubeObject, version = versionOf(object)) {
    this.key = keyOf(object.metadata.namespace ?? '', object.metadata.name ?? '');
    this.object = object;
    this.version = version;
  }

  get namespace(): string {
    return this.object.metadata.namespace ?? '';
  }

  /** The bytes of a representation, made at first use. */
  encoded(representation: string, encode: (object: KubeObject) => Buffer): Buffer {
    let bytes = this.#encoded.get(representation);
    if (!bytes) this.#encoded.set(representation, (bytes = encode(this.object)));
    return bytes;
  }
}

/** The key under which etcd orders an object within its collection. */
export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

export const versionOf = (object: KubeObject): number => Number(object.metadata.resourceVersion);
