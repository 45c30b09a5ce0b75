import type { PolicyRule } from '../../controller/permissions.ts';

/** Names of the ConfigMaps in which the leader notes what it is about to order: sixteen, since one would be too small for a large cluster. */
export const shardNames: readonly string[] = Array.from({ length: 16 }, (_, index) => `tenant-apiserver-issuances-${index.toString(16)}`);

/** In the server's own namespace. */
export const issuancePermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }, // a create cannot be bound to a name
  { apiGroups: [''], resources: ['configmaps'], resourceNames: shardNames, verbs: ['get', 'patch'] },
];
