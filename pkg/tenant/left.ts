import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';

/** Conditions of a Namespace that is ending, each of which names what is in the way. */
const hindrances = ['NamespaceDeletionDiscoveryFailure', 'NamespaceDeletionGroupVersionParsingFailure', 'NamespaceDeletionContentFailure', 'NamespaceContentRemaining', 'NamespaceFinalizersRemaining'];

/** What the namespace controller says of a namespace that it cannot empty: kinds and how many there are, and the finalizers that hold them. */
export const leftIn = (namespace: KubeObject): string => {
  const { conditions = [] } = (namespace['status'] ?? {}) as { conditions?: Condition[] };
  return hindrances.flatMap((type) => conditions.find((condition) => condition.type === type && condition.status === 'True')?.message ?? []).join('; ');
};
