import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { lineageOf } from '../tenant/names.ts';
import { isTenants, listedBy } from './attach.ts';
import { isHost, normalHost } from './hostnames.ts';
import { attachLabel, hostLabel } from './names.ts';

/** A namespace whose routes may attach to a gateway. */
export interface Attached {
  name: string;
  /** Of the gateway's own tenant or of the platform, which publish under the gateway's apex; else of a tenant below, which has its own. */
  isShared: boolean;
  /** The host that its routes may claim, with what lies below it. Empty: none. */
  apex: string;
  /** When the namespace was made. */
  since: string;
}

/**
 * The namespaces that are attached to a gateway, by name: its own, those that its spec lists, and those of tenants below its
 * own. Each carries the gateway's key; a key alone, which anybody may have written, attaches nothing.
 */
export const attachedTo = (gateway: TenantGateway, namespaces: readonly KubeObject[]): Map<string, Attached> => {
  const owner = gateway.metadata.namespace!;
  const apex = normalHost(gateway.spec.apex);
  const listed = new Set(listedBy(gateway));
  const found = namespaces.flatMap(({ metadata: { name = '', labels = {}, creationTimestamp } }): Attached[] => {
    if (labels[attachLabel(owner)] === undefined) return [];
    const since = creationTimestamp ?? '';
    if (name === owner || listed.has(name)) return [{ name, isShared: true, apex, since }];
    if (!isTenants(name) || !lineageOf(name).includes(owner)) return [];
    const host = normalHost(labels[hostLabel] ?? '');
    return [{ name, isShared: false, apex: isHost(host) ? host : '', since }];
  });
  return new Map(found.map((attached) => [attached.name, attached] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
