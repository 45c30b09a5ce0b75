import { accessParts } from './access.ts';
import { ciliumParts } from './cilium.ts';
import { moduleParts } from './modules.ts';
import { networkParts } from './network.ts';
import type { Part, PartContext, PartKind } from './part.ts';
import { quotaParts } from './quota/objects.ts';
import type { TenantSettings } from './settings.ts';
import { valuesParts, type HandedDown } from './values.ts';

/** What there is in the cluster around a tenant. */
export interface Surroundings {
  settings: TenantSettings;
  /** Cozystack's namespace of things that all tenants may see. */
  hasPublicNamespace: boolean;
  /** Kinds of parts that the kube-apiserver does not know. */
  missing: ReadonlySet<PartKind>;
  /** What is handed down to charts, by the tenant above or the platform; undefined for root where the platform's own Secret is there. */
  handedDown: HandedDown | undefined;
  /** What the platform says to the tenant itself: the same, and for root always. */
  platform: HandedDown;
  /** Where the kube-apiservers are. */
  apiServer: { addresses: readonly string[]; ports: readonly number[] };
}

/** All that a tenant with a namespace gets besides that and the gateway, as far as the cluster has a place for it. Pure. */
export const partsOf = (context: PartContext, surroundings: Surroundings): Part[] =>
  [
    ...accessParts(context, surroundings),
    ...quotaParts(context, surroundings.settings.ratios),
    ...networkParts(context, surroundings),
    ...ciliumParts(context),
    ...(surroundings.handedDown ? valuesParts(context, surroundings.handedDown) : []),
    ...moduleParts(context),
  ].filter(({ what }) => !surroundings.missing.has(what));
