import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { defaultIssuers } from './issuance/issuers.ts';
import type { Observed, Plan } from './plan.ts';
import type { Certificate, Gateway, ListenerSet, ParentReference, Route } from './types.ts';

/** Objects for the tests of this folder: gateway `cozystack` of tenant acme, apex acme.example.org. */

export const exampleGateway = (spec: Partial<TenantGateway['spec']> = {}, metadata: object = {}): TenantGateway => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { namespace: 'tenant-acme', name: 'cozystack', uid: 'tgw', generation: 3, ...metadata },
  spec: { apex: 'acme.example.org', certMode: 'http01', issuerName: 'letsencrypt-prod', gatewayClassName: 'cilium', attachedNamespaces: ['cozy-dashboard', 'default'], ...spec },
});

/** The same in each mode. */
export const exampleModes = {
  http01: {},
  dns01: { certMode: 'dns01', dns01: { cloudflare: { apiTokenSecretRef: { name: 'cf', key: 'token' } } } },
  existingSecret: { certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } },
} as const satisfies Record<NonNullable<TenantGateway['spec']['certMode']>, Partial<TenantGateway['spec']>>;

export const exampleNamespace = (name: string, host?: string, gateway = 'tenant-acme'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, creationTimestamp: '2026-11-01T12:00:00Z', labels: { 'kubernetes.io/metadata.name': name, [`attach.gateway.cozystack.io/${gateway}`]: '', ...(host !== undefined && { 'namespace.cozystack.io/host': host }) } },
});

export const exampleNamespaces = [
  exampleNamespace('tenant-acme', 'acme.example.org'),
  exampleNamespace('tenant-acme-dev', 'dev.acme.example.org'),
  exampleNamespace('tenant-acme-shop', 'shop.test'),
  exampleNamespace('cozy-dashboard'),
  exampleNamespace('default'),
  exampleNamespace('tenant-acme-broken'),
];

export const exampleRoute = (
  namespace: string,
  name: string,
  hostnames: string[] | undefined,
  { parentRef = {}, createdAt = '2026-11-30T12:00:00Z', labels = {}, kind = 'HTTPRoute' }: { parentRef?: Partial<ParentReference>; createdAt?: string; labels?: Record<string, string>; kind?: string } = {},
): Route => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: { namespace, name, uid: `${kind}/${namespace}/${name}`, generation: 1, creationTimestamp: createdAt, resourceVersion: '1', labels },
  spec: { parentRefs: [{ name: 'cozystack', namespace: 'tenant-acme', ...parentRef }], ...(hostnames && { hostnames }), rules: [{}] },
});

/** As cert-manager makes them while it proves a host. */
export const exampleSolver = (host: string): Route => {
  const route = exampleRoute('tenant-acme', `cm-acme-http-solver-${host.length}`, [host], { parentRef: { sectionName: 'http' }, labels: { 'acme.cert-manager.io/http01-solver': 'true' } });
  return { ...route, spec: { ...route.spec, rules: [{ matches: [{ path: { value: '/.well-known/acme-challenge/token' } }] }] } };
};

export const nothingLive: Observed['live'] = { gateway: undefined, issuer: undefined, redirects: [], certificates: [], sets: [], account: undefined };

export const observedOf = (routes: Route[] = [], gateway = exampleGateway(), change: Partial<Observed> = {}): Observed => ({
  gateway,
  attached: exampleNamespaces,
  routes,
  live: nothingLive,
  abilities: { listenerSets: false, mergesKinds: true },
  missing: new Set(),
  issuers: defaultIssuers,
  given: new Map([['wild', true]]),
  ...change,
});

/** What a plan applies, of one sort. */
export const applied = <T extends KubeObject>({ actions }: Plan, what: string): T[] => actions.flatMap((action) => (action.do === 'apply' && action.what === what ? [action.desired as T] : []));

/** What is there once a plan was carried out where nothing was before. */
export const liveAfter = (plan: Plan): Observed['live'] => {
  const [gateway] = applied<Gateway>(plan, 'gateway');
  const [issuer] = applied(plan, 'issuer');
  return { gateway, issuer, redirects: applied<Route>(plan, 'redirect'), certificates: applied<Certificate>(plan, 'certificate'), sets: applied<ListenerSet>(plan, 'listenerSet'), account: undefined };
};
