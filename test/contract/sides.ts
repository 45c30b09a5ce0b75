import { apiVersionOf, type ResourceDefinition } from '../../api/resource.ts';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { gadgets } from './gadget.ts';

/** Kinds that cases are about. Gadgets exist for tests alone. */
export const kinds = { gateway: tenantGateways, tenant: tenants, gadget: gadgets } satisfies Record<string, ResourceDefinition>;
export type Kind = keyof typeof kinds;

/** Ours, or the twin that the kube-apiserver serves from a CustomResourceDefinition of the same schema. */
export type Side = 'ours' | 'twin';
export const sides: readonly Side[] = ['ours', 'twin'];

const domain = 'cozystack.io';
/** As long as ours, and sorted like it among the groups of a control plane. */
const twinDomain = 'twinned.test';

const ourGroups = /\b(apps|gateway|lab)\.cozystack\.io\b/g;

export const twinOf = (definition: ResourceDefinition): ResourceDefinition => ({ ...definition, group: definition.group.replace(domain, twinDomain) });

/** A text that is written with our groups, as one side is to get it. */
export const textFor = (side: Side, text: string): string => (side === 'ours' ? text : text.replaceAll(ourGroups, `$1.${twinDomain}`));

/** A text of either side, with our groups. */
export const withOurGroups = (text: string): string => text.replaceAll(twinDomain, domain);

export interface Place {
  kind: Kind;
  namespace: string;
  name: string;
}

/** What a case's texts may name in angle brackets, besides answers of earlier steps. */
export const placeNames = ({ kind, namespace, name }: Place): Record<string, string> => {
  const definition = kinds[kind];
  const apiVersion = apiVersionOf(definition);
  const root = `/apis/${apiVersion}`;
  const all = `${root}/namespaces/${namespace}/${definition.plural}`;
  return { apiVersion, group: definition.group, root, every: `${root}/${definition.plural}`, all, one: `${all}/${name}`, kind: definition.kind, plural: definition.plural, namespace, name };
};
