import { accessLevels, groupOf } from './access-levels.ts';
import { lineageOf, namespaceOf } from './names.ts';

/** Names that are made of the name of a tenant's namespace, by the space of names that they have to be unique in. */
const derivedNames = (namespace: string): Record<string, string[]> => ({
  // A namespace that is called like a group is no clash by itself; but whoever reads it takes one for the other.
  'group or namespace': [namespace, ...accessLevels.map((level) => groupOf(namespace, level))],
  'cluster-wide policy': clusterPolicySuffixes.map((suffix) => `${namespace}-${suffix}`),
});

/** What the cluster-wide policies of a tenant are called, after its namespace and a dash. */
export const clusterPolicySuffixes = ['egress', 'ingress', 'ingress-ingress', 'ingress-etcd', 'ingress-monitoring', 'egress-virt-handler'] as const;
export type ClusterPolicySuffix = (typeof clusterPolicySuffixes)[number];

export interface Collision {
  /** What both tenants would call so. */
  what: string;
  /** The name that is in question. */
  computed: string;
  /** The namespace of the tenant above that has it. */
  owner: string;
}

/**
 * A name that Tenant `name` in `namespace` would share with a tenant above it: its admins would be that one's super-admins, say.
 * Only tenants of one line can clash, since what is added begins with a dash.
 */
export const collisionOf = (namespace: string, name: string): Collision | undefined => {
  const own = namespaceOf(namespace, name);
  const mine = Object.entries(derivedNames(own));
  for (const owner of lineageOf(own)) {
    if (owner === own) continue;
    const theirs = derivedNames(owner);
    for (const [what, names] of mine) {
      const computed = names.find((each) => theirs[what]!.includes(each));
      if (computed) return { what, computed, owner };
    }
  }
  return undefined;
};
