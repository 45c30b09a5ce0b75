import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import type { RestResource } from '../controller/apply.ts';

/** The parts of Gateway API (gateway.networking.k8s.io) and cert-manager (cert-manager.io/v1) that are read or written. */

export const gatewayGroup = 'gateway.networking.k8s.io';

export const gateways: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'Gateway', plural: 'gateways' };
export const gatewayClasses: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'GatewayClass', plural: 'gatewayclasses' };
export const listenerSets: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'ListenerSet', plural: 'listenersets' };
export const httpRoutes: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'HTTPRoute', plural: 'httproutes' };
export const grpcRoutes: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'GRPCRoute', plural: 'grpcroutes' };
/** Newest first: a cluster serves one or more of them, and each shows the same objects. */
export const tlsRoutes: readonly RestResource[] = ['v1', 'v1alpha3', 'v1alpha2'].map((version) => ({ apiVersion: `${gatewayGroup}/${version}`, kind: 'TLSRoute', plural: 'tlsroutes' }));
export const issuers: RestResource = { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', plural: 'issuers' };
export const certificates: RestResource = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', plural: 'certificates' };

export interface ParentReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}

export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions?: Condition[];
}

/** Of an HTTPRoute. */
export interface RouteMatch {
  path?: { type?: string; value?: string };
  headers?: { name: string; type?: string; value: string }[];
  method?: string;
  queryParams?: object[];
}

/** An HTTPRoute, a GRPCRoute or a TLSRoute. */
export interface Route extends KubeObject {
  spec?: { parentRefs?: ParentReference[]; hostnames?: string[]; rules?: { matches?: RouteMatch[] }[] };
  status?: { parents?: RouteParentStatus[] };
}

export interface Listener {
  name: string;
  port: number;
  protocol: 'HTTP' | 'HTTPS' | 'TLS';
  hostname?: string;
  tls?: { mode: 'Terminate' | 'Passthrough'; certificateRefs?: { name: string }[] };
  allowedRoutes?: object;
}

export interface ListenerState {
  name: string;
  attachedRoutes?: number;
  conditions?: Condition[];
}

export interface Gateway extends KubeObject {
  spec?: { gatewayClassName: string; listeners: Listener[]; allowedListeners?: object };
  status?: { conditions?: Condition[]; listeners?: ListenerState[] };
}

/** More listeners of a Gateway: routes reach them by naming the set as their parent, and not by naming the Gateway. */
export interface ListenerSet extends KubeObject {
  spec?: { parentRef: ParentReference; listeners: Listener[] };
  status?: { conditions?: Condition[]; listeners?: ListenerState[] };
}

export interface GatewayClass extends KubeObject {
  spec?: { controllerName: string };
  status?: { supportedFeatures?: { name: string }[] };
}

export interface Certificate extends KubeObject {
  spec?: { secretName: string; dnsNames?: string[] };
  status?: { conditions?: Condition[]; notBefore?: string; notAfter?: string; revision?: number; failedIssuanceAttempts?: number };
}
