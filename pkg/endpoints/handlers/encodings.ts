import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import type { OutputFormat } from '../negotiation.ts';
import { toPartialObjectMetadata } from '../table.ts';

/** The bytes of an object in a list or event, made once per object and form. Tables hold ages and are made anew. */
export const encodedEntry = (entry: CacheEntry, { as }: Pick<OutputFormat, 'as'>): Buffer => {
  if (!as) return entry.encoded('json', json);
  const { version } = as;
  return entry.encoded(`PartialObjectMetadata/${version}`, (object) => json(toPartialObjectMetadata(object, `meta.k8s.io/${version}`)));
};

const json = (value: KubeObject | object): Buffer => Buffer.from(JSON.stringify(value));

/** A list around the bytes of its items, with the keys in the kube-apiserver's order. */
export const encodedList = (apiVersion: string, kind: string, metadata: object, items: Buffer[]): Buffer => {
  const parts: Buffer[] = [Buffer.from(`{"apiVersion":${JSON.stringify(apiVersion)},"items":[`)];
  const comma = Buffer.from(',');
  items.forEach((item, index) => {
    if (index > 0) parts.push(comma);
    parts.push(item);
  });
  parts.push(Buffer.from(`],"kind":${JSON.stringify(kind)},"metadata":${JSON.stringify(metadata)}}\n`));
  return Buffer.concat(parts);
};
