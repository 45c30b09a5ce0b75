import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import { conditionOf } from '../controller/conditions.ts';

/** Conditions of a Namespace that is ending, each of which names what is in the way. */
const hindrances = ['NamespaceDeletionDiscoveryFailure', 'NamespaceDeletionGroupVersionParsingFailure', 'NamespaceDeletionContentFailure', 'NamespaceContentRemaining', 'NamespaceFinalizersRemaining'];

/** What the namespace controller says of a namespace that it cannot empty: kinds and how many there are, and the finalizers that hold them. */
export const leftIn = (namespace: KubeObject): string => {
  const { conditions = [] } = (namespace['status'] ?? {}) as { conditions?: Condition[] };
  const said = hindrances.map((type) => conditionOf(conditions, type)).filter((condition) => condition?.status === 'True');
  return said.map((condition) => condition!.message).join('; ');
};
