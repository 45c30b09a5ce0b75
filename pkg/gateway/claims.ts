import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { claimFault, normalHost } from './hostnames.ts';
import { attachLabel, hostLabel, httpListener } from './names.ts';
import { gatewayGroup, type HttpRoute, type ParentReference } from './types.ts';

/** A host that a route wants served. */
export interface Claim {
  host: string;
  route: HttpRoute;
}

/** What became of one attaching parentRef of one route. */
export interface Attachment {
  route: HttpRoute;
  parentRef: ParentReference;
  /** Why hosts of it are not served, by host. */
  refused: string[];
  /** Hosts that another namespace holds. */
  lost: string[];
}

export interface Claims {
  /** The winning claim of each host. */
  winners: Map<string, Claim>;
  /** Hosts that several namespaces claim. */
  contested: Set<string>;
  attachments: Attachment[];
}

/** `namespace/name` of the Gateway that a parentRef means, or undefined where it means something else. */
export const gatewayOf = ({ group = gatewayGroup, kind = 'Gateway', namespace, name }: ParentReference, routeNamespace: string): string | undefined =>
  (group === gatewayGroup || group === '') && kind === 'Gateway' ? `${namespace ?? routeNamespace}/${name}` : undefined;

/** The host that a namespace's routes may claim, with what lies below it. Empty: none. */
const apexOf = ({ metadata: { name, labels = {} } }: KubeObject, gateway: TenantGateway): string => {
  if (name === gateway.metadata.namespace) return normalHost(gateway.spec.apex);
  const own = normalHost(labels[hostLabel] ?? '');
  // Namespaces of the platform have no host of their own; a tenant's without one is a fault, and may claim nothing.
  return own || name!.startsWith('tenant-') ? own : normalHost(gateway.spec.apex);
};

/** cert-manager's challenge routes borrow a host for a moment: they claim nothing. */
const isSolver = (route: HttpRoute): boolean => route.metadata.labels?.['acme.cert-manager.io/http01-solver'] !== undefined;

/** Whether a parentRef asks for a listener that terminates TLS. */
const wantsTls = ({ sectionName, port }: ParentReference): boolean => sectionName !== httpListener && !sectionName?.startsWith('tls-') && (port === undefined || port === 443);

/**
 * Who may serve what on a gateway. A namespace takes part if it carries the gateway's label, which is what the
 * listeners go by. Of several namespaces that claim a host `cozy-*` wins, then the first by namespace and route name.
 */
export const resolveClaims = (gateway: TenantGateway, routes: readonly HttpRoute[], namespaceOf: (name: string) => KubeObject | undefined): Claims => {
  const key = `${gateway.metadata.namespace}/${gateway.metadata.name}`;
  const winners = new Map<string, Claim>();
  const contested = new Set<string>();
  const pending: (Omit<Attachment, 'lost'> & { hosts: string[] })[] = [];
  for (const route of routes.toSorted(byPrecedence)) {
    const namespace = namespaceOf(route.metadata.namespace!);
    if (!namespace || isSolver(route) || namespace.metadata.labels?.[attachLabel(gateway.metadata.namespace!)] === undefined) continue;
    const apex = apexOf(namespace, gateway);
    for (const parentRef of route.spec?.parentRefs ?? []) {
      if (gatewayOf(parentRef, route.metadata.namespace!) !== key || !wantsTls(parentRef)) continue;
      const claimed = [...new Set((route.spec?.hostnames ?? []).map(normalHost))];
      if (claimed.length === 0) continue;
      const faults = new Map(claimed.map((host) => [host, claimFault(host, apex)]));
      const hosts = claimed.filter((host) => faults.get(host) === undefined);
      for (const host of hosts) claim(winners, contested, { host, route });
      pending.push({ route, parentRef, refused: [...faults.values()].filter((fault) => fault !== undefined), hosts });
    }
  }
  const attachments = pending.map(({ hosts, ...rest }) => ({
    ...rest,
    lost: hosts.filter((host) => winners.get(host)?.route.metadata.namespace !== rest.route.metadata.namespace),
  }));
  return { winners, contested, attachments };
};

/** Claims come in order of precedence. */
const claim = (winners: Map<string, Claim>, contested: Set<string>, made: Claim): void => {
  const winner = winners.get(made.host);
  if (!winner) winners.set(made.host, made);
  else if (winner.route.metadata.namespace !== made.route.metadata.namespace) contested.add(made.host);
};

const byPrecedence = ({ metadata: a }: HttpRoute, { metadata: b }: HttpRoute): number =>
  Number(b.namespace!.startsWith('cozy-')) - Number(a.namespace!.startsWith('cozy-')) || compare(a.namespace!, b.namespace!) || compare(a.name!, b.name!);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
