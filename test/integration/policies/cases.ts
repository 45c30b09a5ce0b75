import type { KubeObject } from '../../../api/meta/v1/types.ts';

/** Who asks. All but the server may do anything by RBAC, so that a refusal is admission's. */
export const people = {
  administrator: undefined, // a member of system:masters, by client certificate
  'a cluster administrator': { 'impersonate-user': 'alice', 'impersonate-group': 'cozystack-cluster-admin' },
  'an app chart': { 'impersonate-user': 'system:serviceaccount:tenant-acme:chart' },
  'a ServiceAccount of cozy-system': { 'impersonate-user': 'system:serviceaccount:cozy-system:other' },
  'a ServiceAccount of cozy-cert-manager': { 'impersonate-user': 'system:serviceaccount:cozy-cert-manager:cert-manager' },
  'a ServiceAccount of cozy-fluxcd': { 'impersonate-user': 'system:serviceaccount:cozy-fluxcd:helm-controller' },
  'a ServiceAccount of kube-system': { 'impersonate-user': 'system:serviceaccount:kube-system:some-controller' },
  'the namespace controller': { 'impersonate-user': 'system:serviceaccount:kube-system:namespace-controller' },
  'the garbage collector': { 'impersonate-user': 'system:serviceaccount:kube-system:generic-garbage-collector' },
  'the server': { 'impersonate-user': 'system:serviceaccount:cozy-system:tenant-apiserver' },
} as const satisfies Record<string, Record<string, string> | undefined>;
export type Who = keyof typeof people;

/** A request that changes nothing: it is sent as a dry run. */
export interface Attempt {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  type?: string;
  /** Makes the body out of the object that is at a path now. */
  from?: { path: string; body: (live: KubeObject) => object };
}

export type Verdict =
  | 'allowed'
  /** By the policy of that name, in these very words. */
  | { policy: string; binding?: string; says: string }
  /** By what is judged before any policy, or by a built-in plugin of ours: its code, and a part of its message. */
  | { code: number; says: string };

export interface Case {
  name: string;
  /** The administrator if left out. */
  as?: Who;
  attempt: Attempt;
  verdict: Verdict;
}

export interface Resource {
  group: string;
  version: string;
  plural: string;
  kind: string;
}

const gatewayApi = (plural: string, kind: string, version = 'v1'): Resource => ({ group: 'gateway.networking.k8s.io', version, plural, kind });
export const gateways = gatewayApi('gateways', 'Gateway');
export const oldGateways = gatewayApi('gateways', 'Gateway', 'v1beta1');
export const listenerSets = gatewayApi('listenersets', 'ListenerSet');
export const xListenerSets: Resource = { group: 'gateway.networking.x-k8s.io', version: 'v1alpha1', plural: 'xlistenersets', kind: 'XListenerSet' };
export const httpRoutes = gatewayApi('httproutes', 'HTTPRoute');
export const oldHttpRoutes = gatewayApi('httproutes', 'HTTPRoute', 'v1beta1');
export const grpcRoutes = gatewayApi('grpcroutes', 'GRPCRoute');
export const tlsRoutes = ['v1', 'v1alpha2', 'v1alpha3'].map((version) => gatewayApi('tlsroutes', 'TLSRoute', version));
export const tcpRoutes = ['v1', 'v1alpha2'].map((version) => gatewayApi('tcproutes', 'TCPRoute', version));
export const udpRoutes = gatewayApi('udproutes', 'UDPRoute');
export const ingresses: Resource = { group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', kind: 'Ingress' };
export const packages: Resource = { group: 'cozystack.io', version: 'v1alpha1', plural: 'packages', kind: 'Package' };

/** Namespaces of the world that the tables are about, with the host that each has. */
export const hosts = {
  'tenant-acme': 'acme.example.org',
  'tenant-acme-dev': 'dev.acme.example.org',
  'tenant-acme-shop': 'shop.test', // below acme in the tree, and not by its host
  'tenant-www': 'www.acme.example.org', // whose counterpart without www. is acme's
  'tenant-customer': 'customer1.io', // a host of its own, not below the apex of the platform
  'tenant-mixed': 'Mixed.Example.ORG',
  'tenant-empty': '',
  'tenant-bare': undefined, // has no such label
  'tenant-moved': 'new.example.org', // has objects from when it was old.example.org
  'cozy-harbor': undefined,
  plain: undefined,
} as const;
export const rootApex = 'example.org';

export const collection = ({ group, version, plural }: Resource, namespace: string): string => `/apis/${group}/${version}${namespace && `/namespaces/${namespace}`}/${plural}`;

const dryRun = 'dryRun=All';

/** The object to create is called `attempt`. */
export const create = (resource: Resource, namespace: string, spec: object, metadata: object = {}): Attempt => ({
  method: 'POST',
  path: `${collection(resource, namespace)}?${dryRun}`,
  body: { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata: { name: 'attempt', ...metadata }, spec },
});

/** A merge patch. */
export const change = (resource: Resource, namespace: string, name: string, patch: object): Attempt => changeAt(`${collection(resource, namespace)}/${name}`, patch);

export const changeAt = (path: string, patch: object): Attempt => ({ method: 'PATCH', path: `${path}?${dryRun}`, type: 'application/merge-patch+json', body: patch });

export const remove = (path: string): Attempt => ({ method: 'DELETE', path: `${path}?${dryRun}` });
