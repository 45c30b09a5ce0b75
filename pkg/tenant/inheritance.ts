import type { TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import { quotasOf } from './quota/budget.ts';

/** What a tenant has of its own or from the nearest ancestor; owners are named by their namespace, and empty where there is none. */
export interface Inherited {
  host: string;
  gateway: string;
  ingress: string;
  etcd: string;
  monitoring: string;
  seaweedfs: string;
  schedulingClass: string;
  /** Whether the tenant or one above has a budget. */
  bounded: boolean;
  /** `namespace/name` of the topmost tenant of its line that is cordoned, itself included. */
  cordonedBy: string;
  /** Why the host that the tenant would have cannot be served: then it has none. */
  hostFault: string;
}

export const nothing: Inherited = { host: '', hostFault: '', gateway: '', ingress: '', etcd: '', monitoring: '', seaweedfs: '', schedulingClass: '', bounded: false, cordonedBy: '' };

/** A tenant on the way down the tree. */
export interface Node {
  name: string;
  /** Its own namespace, not the one that it was created in. */
  namespace: string;
  spec: TenantSpec;
  /** `namespace/name`, where it is cordoned itself. */
  cordoned?: string;
}

/** What a tenant has, given what its parent has. */
export const inherit = ({ name, namespace, spec, cordoned }: Node, parent: Inherited): Inherited => {
  const owner = (flag: boolean | undefined, inherited: string): string => (flag ? namespace : inherited);
  const host = normalHost(spec.host) || (parent.host && `${name}.${parent.host}`);
  const fault = hostFault(host);
  return {
    host: fault ? '' : host,
    hostFault: fault ?? '',
    gateway: owner(spec.gateway, parent.gateway),
    ingress: owner(spec.ingress, parent.ingress),
    etcd: owner(spec.etcd, parent.etcd),
    monitoring: owner(spec.monitoring, parent.monitoring),
    seaweedfs: owner(spec.seaweedfs, parent.seaweedfs),
    bounded: parent.bounded || Object.keys(quotasOf({ spec })).length > 0,
    cordonedBy: parent.cordonedBy || (cordoned ?? ''),
    schedulingClass: parent.schedulingClass || (spec.schedulingClass ?? ''),
  };
};

/** What the last of a chain has; the chain begins at the top. */
export const inheritAlong = (chain: readonly Node[]): Inherited => chain.reduce((parent, node) => inherit(node, parent), nothing);

/** Hosts are compared in lower case and without trailing dot. */
export const normalHost = (host = ''): string => host.toLowerCase().replace(/\.$/, '');

const hostPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

/** Why a host cannot be served, or undefined. A label holds it, and label values have 63 characters. */
export const hostFault = (host: string): string | undefined => {
  if (host === '') return undefined;
  if (host.length > 63) return `host "${host}" has ${host.length} characters and at most 63 are possible; set a shorter spec.host`;
  if (!hostPattern.test(host)) return `host "${host}" is no DNS name; set spec.host to lower-case labels separated by dots`;
  return undefined;
};
