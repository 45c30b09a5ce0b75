import type { Abilities } from './listeners.ts';
import type { GatewayClass } from './types.ts';

/** For data planes that do not report what they can do: set to `true` on the GatewayClass where ListenerSets are served. */
export const listenerSetsAnnotation = 'gateway.cozystack.io/listener-sets';

const cilium = 'io.cilium/gateway-controller';

/**
 * What the data plane of a class can do: by its list of supported features, or the annotation, else nothing beyond the core. A
 * class that does not exist is taken for Cilium's, whose name is the default.
 */
export const abilitiesOf = (gatewayClass: GatewayClass | undefined, hasListenerSets: boolean): Abilities => {
  const features = gatewayClass?.status?.supportedFeatures ?? [];
  const says = features.some(({ name }) => name === 'ListenerSet') || gatewayClass?.metadata.annotations?.[listenerSetsAnnotation] === 'true';
  return { listenerSets: hasListenerSets && says, mergesKinds: !gatewayClass || gatewayClass.spec?.controllerName === cilium };
};
