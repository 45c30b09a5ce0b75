import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { defaultIssuers } from './issuance/issuers.ts';
import type { Observed } from './plan.ts';
import type { HttpRoute, ParentReference } from './types.ts';

/** Objects for the tests of this folder: gateway `cozystack` of tenant acme, apex acme.example.org. */

export const exampleGateway = (spec: Partial<TenantGateway['spec']> = {}, metadata: object = {}): TenantGateway => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { namespace: 'tenant-acme', name: 'cozystack', uid: 'tgw', generation: 3, ...metadata },
  spec: { apex: 'acme.example.org', certMode: 'http01', issuerName: 'letsencrypt-prod', gatewayClassName: 'cilium', ...spec },
});

export const exampleNamespace = (name: string, host?: string, gateway = 'tenant-acme'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { [`attach.gateway.cozystack.io/${gateway}`]: '', ...(host !== undefined && { 'namespace.cozystack.io/host': host }) } },
});

export const exampleNamespaces = [
  exampleNamespace('tenant-acme', 'acme.example.org'),
  exampleNamespace('tenant-acme-dev', 'dev.acme.example.org'),
  exampleNamespace('tenant-acme-shop', 'shop.test'),
  exampleNamespace('cozy-dashboard'),
  exampleNamespace('tenant-broken'),
];

export const exampleRoute = (
  namespace: string,
  name: string,
  hostnames: string[],
  { parentRef = {}, createdAt = '2026-11-30T12:00:00Z', labels = {} }: { parentRef?: Partial<ParentReference>; createdAt?: string; labels?: Record<string, string> } = {},
): HttpRoute => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { namespace, name, uid: `${namespace}/${name}`, generation: 1, creationTimestamp: createdAt, resourceVersion: '1', labels },
  spec: { parentRefs: [{ name: 'cozystack', namespace: 'tenant-acme', ...parentRef }], hostnames },
});

export const observedOf = (routes: HttpRoute[] = [], gateway = exampleGateway(), change: Partial<Observed> = {}): Observed => ({
  gateway,
  attached: exampleNamespaces,
  routes,
  live: { gateway: undefined, issuer: undefined, redirect: undefined, certificates: [] },
  missing: new Set(),
  issuers: defaultIssuers,
  ...change,
});
