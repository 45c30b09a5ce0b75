import { accessParts } from './access.ts';
import type { Part, PartContext, PartKind } from './part.ts';

/** What there is in the cluster around a tenant. */
export interface Surroundings {
  /** Cozystack's namespace of things that all tenants may see. */
  hasPublicNamespace: boolean;
  /** Kinds of parts that the kube-apiserver does not know. */
  missing: ReadonlySet<PartKind>;
}

/** All that a tenant with a namespace gets besides that and the gateway, as far as the cluster has a place for it. Pure. */
export const partsOf = (context: PartContext, surroundings: Surroundings): Part[] =>
  [...accessParts(context, surroundings)].filter(({ what }) => !surroundings.missing.has(what));
