import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import type { RestResource } from '../controller/apply.ts';

/** The parts of Gateway API (gateway.networking.k8s.io/v1) and cert-manager (cert-manager.io/v1) that are read or written. */

export const gatewayGroup = 'gateway.networking.k8s.io';

export const gateways: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'Gateway', plural: 'gateways' };
export const httpRoutes: RestResource = { apiVersion: `${gatewayGroup}/v1`, kind: 'HTTPRoute', plural: 'httproutes' };
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

export interface HttpRoute extends KubeObject {
  spec?: { parentRefs?: ParentReference[]; hostnames?: string[] };
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

export interface Gateway extends KubeObject {
  spec?: { gatewayClassName: string; listeners: Listener[] };
  status?: { conditions?: Condition[]; listeners?: { name: string; attachedRoutes?: number; conditions?: Condition[] }[] };
}

export interface Certificate extends KubeObject {
  spec?: { secretName: string; dnsNames?: string[] };
  status?: { conditions?: Condition[]; notBefore?: string; notAfter?: string; revision?: number };
}
