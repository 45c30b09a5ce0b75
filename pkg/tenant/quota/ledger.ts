import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hasCode, StatusError } from '../../kube/status-error.ts';
import { formatQuantity, parseQuantity, type Quantity } from '../../quantity/quantity.ts';
import { budgetFor } from './budget.ts';
import type { Budget } from './budget-tree.ts';
import { ledgerName } from './permissions.ts';

/** A budget that a Tenant is about to get. */
export interface Reservation {
  budget: Budget;
  /** Milliseconds since 1970: by then whatever was to be written has been, or never will be. */
  until: number;
}

/** All reservations, by id, as of one version. */
export interface Ledger {
  version: string;
  reservations: ReadonlyMap<string, Reservation>;
}

/** Where the replicas keep the ledger that they share. */
export interface LedgerStore {
  read(): Promise<Ledger>;
  /** Replaces all reservations. @throws StatusError 409 where the ledger is no longer at that version */
  write(ledger: Ledger): Promise<Ledger>;
  /** Takes reservations out, whatever the version. */
  remove(ids: readonly string[]): Promise<Ledger>;
}

/** Keeps the ledger in a ConfigMap. */
export const configMapLedger = (client: Pick<KubeClient, 'json'>, namespace: string): LedgerStore => {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const path = `${collection}/${ledgerName}`;
  const metadata = { name: ledgerName, namespace };
  const asConfigMap = (data: Record<string, string>, resourceVersion?: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, ...(resourceVersion && { resourceVersion }) }, data });
  const make = async (): Promise<KubeObject> => {
    try {
      return await client.json<KubeObject>({ method: 'POST', path: collection, body: asConfigMap({}) });
    } catch (error) {
      if (hasCode(error, 409)) return client.json<KubeObject>({ path }); // another replica made it
      throw error;
    }
  };
  return {
    read: async () => {
      try {
        return ledgerOf(await client.json<KubeObject>({ path }));
      } catch (error) {
        if (hasCode(error, 404)) return ledgerOf(await make());
        throw error;
      }
    },
    write: async ({ version, reservations }) => {
      const data = Object.fromEntries(Array.from(reservations, ([id, reservation]) => [id, encode(reservation)]));
      try {
        return ledgerOf(await client.json<KubeObject>({ method: 'PUT', path, body: asConfigMap(data, version) }));
      } catch (error) {
        // deleted meanwhile: read anew, which makes it
        throw hasCode(error, 404) ? StatusError.conflict({ group: '', resource: 'configmaps' }, ledgerName, 'it is gone') : error;
      }
    },
    remove: async (ids) =>
      ledgerOf(await client.json<KubeObject>({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { data: Object.fromEntries(ids.map((id) => [id, null])) } })),
  };
};

interface Entry {
  tenant: string;
  limits: Record<string, string>;
  until: string;
}

const encode = ({ budget: { tenant, limits }, until }: Reservation): string =>
  JSON.stringify({ tenant, limits: Object.fromEntries(Array.from(limits, ([resource, limit]) => [resource, formatQuantity(limit)])), until: new Date(until).toISOString() } satisfies Entry);

const ledgerOf = ({ metadata, data = {} }: KubeObject): Ledger => ({
  version: metadata.resourceVersion!,
  reservations: new Map(Object.entries(data as Record<string, string>).map(([id, text]) => [id, decode(id, text)])),
});

/** @throws StatusError 500: what is reserved there is not known, so nothing can be given away */
const decode = (id: string, text: string): Reservation => {
  const { tenant, limits, until } = entryOf(text);
  const [namespace, name] = tenant?.split('/') ?? [];
  const quantities = new Map(Object.entries(limits ?? {}).map(([resource, limit]) => [resource, parseQuantity(limit)]));
  const at = Date.parse(until ?? '');
  if (!namespace || !name || Number.isNaN(at) || Array.from(quantities.values()).includes(undefined)) {
    throw StatusError.internal(`ConfigMap ${ledgerName} holds a reservation that cannot be read: remove ${JSON.stringify(id)} from its data`);
  }
  return { budget: budgetFor(namespace, name, quantities as Map<string, Quantity>), until: at };
};

const entryOf = (text: string): Partial<Entry> => {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null;
    return typeof entry === 'object' && entry !== null ? entry : {};
  } catch {
    return {};
  }
};
