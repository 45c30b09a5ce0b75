import type { TenantGatewaySpec } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { managedBy } from '../controller/apply.ts';
import { attachLabel } from '../gateway/names.ts';
import type { Inherited } from './inheritance.ts';
import { cordonMark } from './marks.ts';
import { gatewayName, lineageOf, tenantUidLabel } from './names.ts';
import { ownedBy } from './part.ts';
import type { TenantSettings } from './settings.ts';

/** Namespace tenant-root with only what the manifests gave it. */
export const bareNamespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { ...managedBy } } });

/** The namespace `name` of the tenant with a uid; the parent is the namespace above it, which root does not have. */
export const namespaceFor = (name: string, uid: string, inherited: Inherited, { podSecurity }: TenantSettings, parent: KubeObject | undefined): KubeObject => {
  const { host, gateway, ingress, etcd, monitoring, seaweedfs, schedulingClass, cordonedBy } = inherited;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        ...managedBy,
        [tenantUidLabel]: uid,
        ...Object.fromEntries(lineageOf(name).map((ancestor) => [`tenant.cozystack.io/${ancestor}`, ''])),
        'namespace.cozystack.io/etcd': etcd,
        'namespace.cozystack.io/ingress': ingress,
        'namespace.cozystack.io/gateway': gateway,
        ...(gateway && { [attachLabel(gateway)]: '' }),
        'namespace.cozystack.io/monitoring': monitoring,
        'namespace.cozystack.io/seaweedfs': seaweedfs,
        'namespace.cozystack.io/host': host,
        'pod-security.kubernetes.io/enforce': podSecurity.enforce,
        'pod-security.kubernetes.io/warn': podSecurity.warn,
        'alpha.kubevirt.io/auto-memory-limits-ratio': '1.0',
        // Policies that were written for Capsule find their tenants by these.
        'capsule.clastix.io/tenant': name,
        'projectcapsule.dev/tenant': name,
        ...(cordonedBy && { [cordonMark]: 'true' }),
        ...(schedulingClass && { 'scheduler.cozystack.io/scheduling-class': schedulingClass }),
      },
      ...(parent && { ownerReferences: ownedBy(parent) }),
    },
  };
};

export const gatewayFor = (apex: string, settings: Partial<TenantGatewaySpec>, namespace: KubeObject): KubeObject => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { name: gatewayName, namespace: namespace.metadata.name, labels: { ...managedBy }, ownerReferences: ownedBy(namespace) },
  spec: { apex, ...settings },
});
