import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { lineageOf } from '../tenant/names.ts';
import { isTenants, listedBy } from './attach.ts';
import { isHost, isUnder, normalHost } from './hostnames.ts';
import { attachLabel, hostLabel } from './names.ts';

/** A namespace whose routes may attach to a gateway. */
export interface Attached {
  name: string;
  /** Of the gateway's own tenant or of the platform, which publish under the gateway's apex; else of a tenant below, which has its own. */
  isShared: boolean;
  /** The host that its routes may claim, with what lies below it. Empty: none, and `fault` says why. */
  apex: string;
  fault?: string;
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
    // Its own namespace gets the key with the gateway, which may be seen first.
    if (name !== owner && labels[attachLabel(owner)] === undefined) return [];
    const since = creationTimestamp ?? '';
    if (name === owner || listed.has(name)) return [{ name, isShared: true, apex, since }];
    if (!isTenants(name) || !lineageOf(name).includes(owner)) return [];
    const fault = hostFault(name, normalHost(labels[hostLabel] ?? ''), apex);
    return [{ name, isShared: false, apex: fault ? '' : normalHost(labels[hostLabel]!), ...(fault && { fault }), since }];
  });
  return new Map(found.map((attached) => [attached.name, attached] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** A Gateway names no host but those below its own namespace's: a policy sees to it, and would refuse all of the Gateway for one. */
const hostFault = (namespace: string, host: string, apex: string): string | undefined => {
  if (!isHost(host)) return `namespace ${namespace} has no host (label ${hostLabel})`;
  return isUnder(host, apex) ? undefined : outside(host, apex);
};

/** Why a tenant's host is not served by the gateway above. */
export const outside = (host: string, apex: string): string => `${host} does not lie below ${apex}, and the gateway of ${apex} serves nothing else: set spec.gateway of the Tenant with that host, so that it has one of its own`;
