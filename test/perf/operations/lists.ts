import { gunzipSync } from 'node:zlib';
import type { Query } from '../../../pkg/kube/client.ts';
import type { Operation } from '../measurement.ts';
import { keyOf, labelEvery, namespaces, pathOf, selector, succeed, type Subject } from '../subject.ts';

const accepts = {
  JSON: 'application/json',
  Table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  PartialObjectMetadata: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
};
const encodings = ['identity', 'gzip'] as const;
const pageSize = 500;
/** Kubernetes compresses no answer that is smaller. */
const gzipFromBytes = 128 * 1024;

/** tenant-apiserver proves its freshness 20 times a second at the most: a faster loop would measure that limit, not the list. */
const everyMs = 55;

interface ListKind {
  name: string;
  accept?: string;
  namespace?: string;
  query?: Query;
  expected: (objects: number) => number;
}

const all = (objects: number): number => objects;
/** Numbers below `objects` that leave `remainder` when divided. */
const share = (objects: number, divisor: number, remainder: number): number => Math.max(0, Math.ceil((objects - remainder) / divisor));

const kinds: readonly ListKind[] = [
  ...Object.entries(accepts).map(([name, accept]) => ({ name: `list ${name}`, accept, expected: all })),
  { name: 'list by label (1/7)', query: { labelSelector: selector }, expected: (objects) => share(objects, labelEvery, 3) },
  { name: 'list of a namespace', namespace: keyOf(0).namespace, expected: (objects) => share(objects, namespaces.length, 0) },
];

interface ListBody {
  metadata: { continue?: string };
  items?: unknown[];
  rows?: unknown[];
}

const read = async (subject: Subject, headers: Record<string, string>, path: string, query: Query | undefined): Promise<{ list: () => ListBody }> => {
  const answer = await succeed(subject.client, { path, query, headers });
  return {
    list: () => {
      const isGzip = answer.headers['content-encoding'] === 'gzip';
      const isWanted = headers['accept-encoding'] === 'gzip';
      if (isGzip !== isWanted && (isGzip || answer.body.length >= gzipFromBytes)) throw new Error(`${subject.name} answered ${path} with content-encoding ${answer.headers['content-encoding'] ?? 'identity'}`);
      return JSON.parse((isGzip ? gunzipSync(answer.body) : answer.body).toString('utf8')) as ListBody;
    },
  };
};

const listOperation = ({ name, accept = accepts.JSON, namespace, query, expected }: ListKind, encoding: string): Operation => ({
  name: `${name}, ${encoding}`,
  prepare: async (subject, objects) => {
    const headers = { accept, 'accept-encoding': encoding };
    const path = pathOf(subject, { namespace });
    const once = (): ReturnType<typeof read> => read(subject, headers, path, query);
    return {
      everyMs,
      check: async () => {
        const { items, rows } = (await once()).list();
        const count = (items ?? rows)?.length;
        if (count !== expected(objects)) throw new Error(`${subject.name} listed ${count} objects for ${name}, not ${expected(objects)}`);
      },
      attempt: async () => void (await once()),
    };
  },
});

/** Walks through the pages, from the first again after the last. */
const pageOperation = (encoding: string): Operation => ({
  name: `page of ${pageSize}, ${encoding}`,
  prepare: async (subject) => {
    const headers = { accept: accepts.JSON, 'accept-encoding': encoding };
    const page = async (token: string | undefined): Promise<ListBody> =>
      (await read(subject, headers, pathOf(subject), { limit: pageSize, continue: token })).list();
    // Tokens are found beforehand: reading a page takes the client longer than getting it.
    const tokens: (string | undefined)[] = [undefined];
    for (let token = (await page(undefined)).metadata.continue; token; token = (await page(token)).metadata.continue) tokens.push(token);
    let next = 0;
    return {
      attempt: async () => {
        await read(subject, headers, pathOf(subject), { limit: pageSize, continue: tokens[next] });
        next = (next + 1) % tokens.length;
      },
    };
  },
});

export const listOperations: readonly Operation[] = [
  ...kinds.flatMap((kind) => encodings.map((encoding) => listOperation(kind, encoding))),
  ...encodings.map(pageOperation),
];
