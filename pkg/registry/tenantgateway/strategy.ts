import { tenantGateways, type TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { recordDefinition } from '../../../api/records/v1alpha1/records.ts';
import { hostnameFault } from '../hostname.ts';
import type { Causes, Strategy } from '../strategy.ts';

export const tenantGatewayStrategy: Strategy = {
  definition: tenantGateways,
  record: recordDefinition(tenantGateways),
  minimalSpec: { apex: 'fence.invalid' },
  gatedFields: [],
  validateName: () => [],
  validate: (object, old) => [...apexFaults(specOf(object), specOf(old)), ...attachedNamespaceFaults(specOf(object))],
  warnings: () => [],
};

const apexFaults = ({ apex }: Partial<TenantGatewaySpec>, { apex: before }: Partial<TenantGatewaySpec>): Causes => {
  if (typeof apex !== 'string' || apex === before) return []; // another type is for the schema to refuse
  const why = hostnameFault(apex);
  return why ? [{ reason: 'FieldValueInvalid', field: 'spec.apex', message: `Invalid value: ${JSON.stringify(apex)}: ${why}` }] : [];
};

/** A tenant attaches through its place in the tree; naming it here would let it publish under a foreign apex. */
const attachedNamespaceFaults = ({ attachedNamespaces }: Partial<TenantGatewaySpec>): Causes =>
  (Array.isArray(attachedNamespaces) ? attachedNamespaces : []).flatMap((namespace, index) =>
    String(namespace).startsWith('tenant-')
      ? [
          {
            reason: 'FieldValueForbidden',
            field: `spec.attachedNamespaces[${index}]`,
            message: 'Forbidden: tenant namespaces attach by inheritance; leave them out of this list',
          },
        ]
      : [],
  );

const specOf = (object: KubeObject | undefined): Partial<TenantGatewaySpec> => {
  const spec = object?.spec;
  return typeof spec === 'object' && spec !== null ? (spec as Partial<TenantGatewaySpec>) : {};
};
