import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Claims } from './claims.ts';
import { isHost, normalHost } from './hostnames.ts';
import { attachLabel, certManagerNamespace, childListener, hostCertificate, hostLabel, hostListener, httpListener, namesOf, passthroughListener } from './names.ts';
import { gatewayGroup, type Listener } from './types.ts';

/** Gateway API's cap on `spec.listeners`. */
export const listenerLimit = 64;

export interface Listeners {
  listeners: Listener[];
  /** Certificate name to the hosts that it must cover. */
  certificates: Map<string, string[]>;
  /** Hosts that found no place. */
  leftOut: string[];
}

/** Apexes of tenants that inherit this gateway, without its own. */
export const childApexes = (gateway: TenantGateway, attached: readonly KubeObject[]): string[] => {
  const apex = normalHost(gateway.spec.apex);
  const hosts = attached.filter(({ metadata }) => metadata.name !== gateway.metadata.namespace).map(({ metadata }) => normalHost(metadata.labels?.[hostLabel] ?? ''));
  return [...new Set(hosts)].filter((host) => host !== apex && isHost(host)).toSorted();
};

/** The listeners of a gateway: http, then those that terminate TLS, then those that pass it through. Never more than the cap. */
export const listenersOf = (gateway: TenantGateway, claims: Claims, attached: readonly KubeObject[]): Listeners => {
  const { namespace = '', name = '' } = gateway.metadata;
  const apex = normalHost(gateway.spec.apex);
  const services = [...new Set(gateway.spec.tlsPassthroughServices ?? [])].filter((service) => isHost(`${service}.${apex}`));
  const passthrough = services.slice(0, listenerLimit - 1).map((service) => passthroughOf(namespace, service, apex));
  const terminating = gateway.spec.certMode === 'dns01' || gateway.spec.certMode === 'existingSecret' ? wildcards(gateway, attached) : perHost(namespace, name, claims);
  // A host that is passed through cannot be terminated on the same port.
  const passed = new Set(passthrough.map(({ hostname }) => hostname));
  const candidates = terminating.filter(({ listener }) => !passed.has(listener.hostname));
  const kept = candidates.slice(0, listenerLimit - 1 - passthrough.length);
  const certificates = new Map<string, string[]>();
  for (const { certificate, hosts } of kept) if (certificate) certificates.set(certificate, [...(certificates.get(certificate) ?? []), ...hosts]);
  return {
    listeners: [httpOf(namespace), ...kept.map(({ listener }) => listener).toSorted(byHostname), ...passthrough],
    certificates,
    leftOut: [...candidates.slice(kept.length).map(({ listener }) => listener.hostname!), ...services.slice(passthrough.length).map((service) => `${service}.${apex}`)],
  };
};

interface Terminating {
  listener: Listener;
  /** Undefined where the certificate is not ours to issue. */
  certificate?: string;
  hosts: string[];
}

/** Oldest first: a new route never takes the place of one that is served. */
const perHost = (namespace: string, name: string, { winners, contested }: Claims): Terminating[] =>
  [...winners.values()]
    .toSorted((a, b) => compare(createdAt(a), createdAt(b)) || compare(a.host, b.host))
    .map(({ host, route }) => {
      const certificate = hostCertificate(name, host);
      const pinnedTo = contested.has(host) ? route.metadata.namespace : undefined;
      return { listener: https(hostListener(host), host, certificate, tlsRoutes(namespace, pinnedTo)), certificate, hosts: [host] };
    });

const createdAt = ({ route }: { route: KubeObject }): string => route.metadata.creationTimestamp ?? '';

const wildcards = (gateway: TenantGateway, attached: readonly KubeObject[]): Terminating[] => {
  const { namespace = '', name = '' } = gateway.metadata;
  const apex = normalHost(gateway.spec.apex);
  const given = gateway.spec.certMode === 'existingSecret' ? (gateway.spec.wildcardSecretRef?.name ?? '') : undefined;
  const issued = given === undefined ? namesOf(name).wildcardCertificate : undefined;
  const secret = given ?? namesOf(name).wildcardCertificate;
  const listener = (listenerName: string, hostname: string): Listener => https(listenerName, hostname, secret, tlsRoutes(namespace));
  return [
    { listener: listener('https', `*.${apex}`), certificate: issued, hosts: [apex, `*.${apex}`] },
    { listener: listener('https-apex', apex), certificate: issued, hosts: [] },
    ...childApexes(gateway, attached).map((child) => ({ listener: listener(childListener(child), `*.${child}`), certificate: issued, hosts: [child, `*.${child}`] })),
  ];
};

const https = (name: string, hostname: string, certificate: string, allowedRoutes: object): Listener => ({
  name,
  port: 443,
  protocol: 'HTTPS',
  hostname,
  tls: { mode: 'Terminate', certificateRefs: [{ name: certificate }] },
  allowedRoutes,
});

const passthroughOf = (namespace: string, service: string, apex: string): Listener => ({
  name: passthroughListener(service),
  port: 443,
  protocol: 'TLS',
  hostname: `${service}.${apex}`,
  tls: { mode: 'Passthrough' },
  allowedRoutes: tlsRoutes(namespace),
});

/** Plain HTTP is for the redirect and for cert-manager's challenges alone. */
const httpOf = (namespace: string): Listener => ({
  name: httpListener,
  port: 80,
  protocol: 'HTTP',
  allowedRoutes: {
    namespaces: {
      from: 'Selector',
      selector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [...new Set([namespace, certManagerNamespace])] }] },
    },
  },
});

/** The same kinds on every listener of port 443: Cilium merges them otherwise. */
const tlsRoutes = (namespace: string, pinnedTo?: string): object => ({
  namespaces: { from: 'Selector', selector: { matchLabels: { [attachLabel(namespace)]: '', ...(pinnedTo && { 'kubernetes.io/metadata.name': pinnedTo }) } } },
  kinds: [
    { group: gatewayGroup, kind: 'HTTPRoute' },
    { group: gatewayGroup, kind: 'TLSRoute' },
  ],
});

const byHostname = (a: Listener, b: Listener): number => compare(a.hostname ?? '', b.hostname ?? '');
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
