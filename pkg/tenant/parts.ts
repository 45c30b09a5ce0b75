import { accessParts } from './access.ts';
import { ciliumParts } from './cilium.ts';
import { moduleParts } from './modules.ts';
import { networkParts } from './network.ts';
import type { Surroundings } from './observed.ts';
import type { Part, PartContext } from './part.ts';
import { quotaParts } from './quota/objects.ts';
import { valuesParts } from './values.ts';

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
