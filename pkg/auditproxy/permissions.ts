import type { PolicyRule } from '../controller/permissions.ts';

/** The APIServices that the proxy is put in front of. */
export const apiServiceNames = ['v1alpha1.apps.cozystack.io', 'v1alpha1.gateway.cozystack.io'] as const;

/** Name of the Secret with the proxy's own serving certificate, in mode self-signed. */
const proxySecretName = 'audit-proxy-serving';

/** Name of the Secret whose ca.crt signed the certificate of tenant-apiserver. */
export const backendCaSecretName = 'tenant-apiserver-serving';

/** Whom the front is when it asks on its own account: for availability, discovery and OpenAPI. */
const frontUsers = ['system:kube-aggregator', 'system:aggregator'] as const;
const frontGroups = ['system:masters'] as const;

const impersonate = ['impersonate'] as const;

/** Without these both APIServices are unavailable, whatever tenants may do. */
export const frontImpersonation: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['users'], resourceNames: frontUsers, verbs: impersonate },
  { apiGroups: [''], resources: ['groups'], resourceNames: frontGroups, verbs: impersonate },
];

/** Everybody else, whose names the manifests do not know. A role with resourceNames takes its place where they are known. */
export const tenantImpersonation: readonly PolicyRule[] = [{ apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'], verbs: impersonate }];

/** With forwardUid. */
export const uidImpersonation: readonly PolicyRule[] = [{ apiGroups: ['authentication.k8s.io'], resources: ['uids'], verbs: impersonate }];

/** With an extra key that is sent. @param keys as in `authentication.kubernetes.io/credential-id` */
export const extraImpersonation = (keys: readonly string[]): readonly PolicyRule[] => [
  { apiGroups: ['authentication.k8s.io'], resources: keys.map((key) => `userextras/${key}`), verbs: impersonate },
];

/** In mode self-signed, in the whole cluster: caBundle follows the serving certificate. */
export const caBundlePermissions: readonly PolicyRule[] = [
  { apiGroups: ['apiregistration.k8s.io'], resources: ['apiservices'], resourceNames: apiServiceNames, verbs: ['get', 'list', 'watch', 'patch'] },
];

/** In mode self-signed, in the proxy's own namespace. */
export const proxySecretPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] }, // a create cannot be bound to a name
  { apiGroups: [''], resources: ['secrets'], resourceNames: [proxySecretName], verbs: ['list', 'watch', 'update'] },
];
