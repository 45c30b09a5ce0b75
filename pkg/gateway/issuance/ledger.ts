import { hash } from 'node:crypto';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { hasCode, ifFound } from '../../kube/status-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Issuance } from './budget.ts';
import { shardNames } from './permissions.ts';

/** An issuance, and at which issuer. */
export interface Entry extends Issuance {
  issuer: string;
}

/**
 * Where it is noted what was ordered, before it is. The Certificates themselves are no such place: they go with their host, their
 * gateway or their namespace, and their CertificateRequests with them, but the ACME server goes on counting them.
 */
export interface IssuanceLedger {
  read(): Promise<Entry[]>;
  /** Notes entries, and drops what is older than `lapsedAt`. */
  add(entries: readonly Entry[], lapsedAt: number): Promise<void>;
}

/** Keeps the ledger in ConfigMaps, by set of names. Only one process at a time writes: the leader. */
export const configMapLedger = (client: Pick<KubeClient, 'json'>, namespace: string): IssuanceLedger => {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const known = shardNames.map(() => new Map<string, number>());

  const shard = async (name: string): Promise<Record<string, string>> =>
    ((await ifFound(client.json<KubeObject>({ path: `${collection}/${name}` })))?.data ?? {}) as Record<string, string>;
  const write = async (name: string, data: Record<string, string | null>): Promise<void> => {
    try {
      await client.json({ method: 'PATCH', path: `${collection}/${name}`, contentType: 'application/merge-patch+json', body: { data } });
    } catch (error) {
      if (!hasCode(error, 404)) throw error;
      const kept = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
      await client.json({ method: 'POST', path: collection, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: kept } });
    }
  };

  return {
    read: async () => {
      const entries: Entry[] = [];
      for (const [index, data] of (await Promise.all(shardNames.map(shard))).entries()) {
        known[index]!.clear();
        for (const [id, text] of Object.entries(data)) {
          const entry = entryOf(text);
          known[index]!.set(id, entry?.at ?? 0); // what cannot be read is dropped with the next write
          if (entry) entries.push(entry);
        }
      }
      return entries;
    },
    add: async (entries, lapsedAt) => {
      const byShard = Map.groupBy(entries, ({ set }) => Number.parseInt(set[0]!, 16));
      for (const [index, added] of byShard) {
        const ids = known[index]!;
        const data: Record<string, string | null> = Object.fromEntries([...ids].filter(([, at]) => at <= lapsedAt).map(([id]) => [id, null]));
        for (const entry of added) data[idOf(entry)] = JSON.stringify({ ...entry, at: new Date(entry.at).toISOString() });
        await write(shardNames[index]!, data);
        for (const [id, text] of Object.entries(data)) if (text === null) ids.delete(id);
        for (const entry of added) ids.set(idOf(entry), entry.at);
      }
    },
  };
};

/** Unique among orders of a certificate, which are never two in a millisecond. */
const idOf = ({ at, gateway, certificate }: Entry): string => `${at.toString(36)}.${hash('sha256', `${gateway}/${certificate}`).slice(0, 12)}`;

/** Undefined where somebody wrote what is no entry. */
const entryOf = (text: string): Entry | undefined => {
  try {
    const { at, issuer, gateway, certificate, domains, set, renewal } = JSON.parse(text) as Record<string, unknown>;
    const time = Date.parse(String(at));
    const texts = [issuer, gateway, certificate, set, ...(domains as unknown[])];
    if (Number.isNaN(time) || !texts.every((value) => typeof value === 'string')) return undefined;
    return { at: time, ...({ issuer, gateway, certificate, domains, set } as Omit<Entry, 'at' | 'renewal'>), ...(renewal === true && { renewal }) };
  } catch {
    return undefined;
  }
};
