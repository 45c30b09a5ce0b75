import { hash } from 'node:crypto';

/** Names one gateway of a namespace, by its owner: for others to select on. Nothing here goes by it. */
export const gatewayLabel = 'namespace.cozystack.io/gateway';
export const hostLabel = 'namespace.cozystack.io/host';

/** Before the owner's name, a key of its own for each gateway that a namespace's routes may attach to. */
const attachPrefix = 'attach.gateway.cozystack.io/';
export const attachLabel = (owner: string): string => `${attachPrefix}${owner}`;

/** Namespaces whose gateways a namespace's labels let its routes attach to. */
export const ownersOf = (labels: Record<string, string> = {}): string[] =>
  Object.keys(labels).flatMap((key) => (key.startsWith(attachPrefix) ? [key.slice(attachPrefix.length)] : []));

/** Labels that Cozystack's own controller writes and others may select on. */
export const compatibleManagedBy = { 'cozystack.io/managed-by': 'cozystack-controller' };

/** On each Certificate: the issuer that it was ordered from. The Issuer object of a gateway keeps its name when its ACME server changes. */
export const issuerLabel = 'gateway.cozystack.io/issuer';

/** Who writes into `status.parents` of routes. */
export const controllerName = 'gateway.cozystack.io/tenantgateway-controller';

/** The namespace of cert-manager, whose HTTP-01 solver routes attach to port 80. */
export const certManagerNamespace = 'cozy-cert-manager';

/** cert-manager puts names of Certificates into labels, whose values hold 63 characters: of a long name of a gateway the hash is kept. */
const fitting = (gateway: string, rest: string): string => {
  if (gateway.length + 1 + rest.length <= 63) return `${gateway}-${rest}`;
  const mark = hash('sha256', gateway, 'hex').slice(0, 8);
  return `${gateway.slice(0, 53 - rest.length).replace(/[-.]+$/, '')}-${mark}-${rest}`;
};

/** Names of what a TenantGateway `name` makes. */
export const namesOf = (name: string) => ({
  gateway: name,
  issuer: `${name}-gateway`,
  accountSecret: `${name}-acme-account`,
  wildcardCertificate: fitting(name, 'gateway-tls'),
  redirect: `${name}-http-redirect`,
});

export const httpListener = 'http';
export const apexListener = 'https-apex';

/** `<first label>-<8 hex digits of the host's SHA-256>`, the host in lower case. */
const hostKey = (host: string): string => {
  const known = hostKeys.get(host);
  if (known !== undefined) return known;
  const lower = host.toLowerCase();
  const key = `${lower.split('.', 1)[0]}-${hash('sha256', lower, 'hex').slice(0, 8)}`;
  if (hostKeys.size === maxHostKeys) hostKeys.clear();
  hostKeys.set(host, key);
  return key;
};
/** Every plan asks for each host's several times, and hashes are a third of what a plan costs. */
const hostKeys = new Map<string, string>();
const maxHostKeys = 20_000;

/** The redirect that keeps a route off port 80. */
export const hostRedirect = (gateway: string, route: string): string => `${namesOf(gateway).redirect}-${hash('sha256', route, 'hex').slice(0, 8)}`;

export const hostListener = (host: string): string => `https-${hostKey(host)}`;
/** The listener of a zone's wildcard: the gateway's own, or that of a tenant below. */
export const zoneListener = (apex: string, own: string): string => (apex === own ? 'https' : `https-child-${hostKey(apex)}`);
export const passthroughListener = (service: string): string => `tls-${service}`;

/** A long first label is cut: the hash tells hosts apart. */
export const hostCertificate = (gateway: string, host: string): string => {
  const key = hostKey(host);
  const excess = `${gateway}-${key}-tls`.length - 63;
  if (excess <= 0) return `${gateway}-${key}-tls`;
  const kept = key.slice(0, Math.max(1, key.length - 9 - excess));
  return fitting(gateway, `${kept.replace(/-+$/, '')}${key.slice(-9)}-tls`);
};
