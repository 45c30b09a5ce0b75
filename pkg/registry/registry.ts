import type { Strategy } from './strategy.ts';
import { tenantStrategy } from './tenant/strategy.ts';
import { tenantGatewayStrategy, tenantGatewayStrategyFor } from './tenantgateway/strategy.ts';

/** The resources that are served, by plural. A new kind is a folder beside this file and a line here. */
export type Resource = 'tenants' | 'tenantgateways';

export const strategies: Readonly<Record<Resource, Strategy>> = {
  tenants: tenantStrategy,
  tenantgateways: tenantGatewayStrategy,
};

/** The strategies of a server whose operator decided on the names of issuers. */
export const strategiesFor = ({ issuerNames }: { issuerNames: readonly string[] }): Readonly<Record<Resource, Strategy>> => ({
  ...strategies,
  tenantgateways: tenantGatewayStrategyFor(issuerNames),
});

/** The strategy of a resource that is known to be served. */
export const strategyOf = (resource: string): Strategy => {
  const found = Object.hasOwn(strategies, resource) ? strategies[resource as Resource] : undefined;
  if (!found) throw new Error(`no strategy for ${resource}`);
  return found;
};
