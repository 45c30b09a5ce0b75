import { withIssuerNames } from '../../../api/gateway/v1alpha1/issuer-names.ts';
import { tenantGateways, type TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { recordDefinition } from '../../../api/records/v1alpha1/records.ts';
import { defaultIssuers } from '../../gateway/issuance/issuers.ts';
import { hostnameFault } from '../hostname.ts';
import type { Causes, Strategy } from '../strategy.ts';
import { cordonAdmission } from '../tenant/cordon-admission.ts';

/** The strategy of a server on which TenantGateways may name these issuers. */
export const tenantGatewayStrategyFor = (issuerNames: readonly string[]): Strategy => ({
  definition: withIssuerNames(tenantGateways, issuerNames),
  record: recordDefinition(tenantGateways),
  minimalSpec: { apex: 'fence.invalid' },
  gatedFields: [],
  validateName: () => [],
  validate: (object, old) => {
    const [spec, before] = [specOf(object), specOf(old)];
    return [...apexFaults(spec, before), ...attachedNamespaceFaults(spec), ...issuerFaults(issuerNames, spec, before)];
  },
  warnings: () => [],
  admissions: (environment) => [cordonAdmission(environment)],
});

export const tenantGatewayStrategy = tenantGatewayStrategyFor([...defaultIssuers.keys()]);

/** What the schema that is served says of the name; the record's takes all, since the issuers are the operator's to name. */
const issuerFaults = (known: readonly string[], { issuerName }: Partial<TenantGatewaySpec>, { issuerName: before }: Partial<TenantGatewaySpec>): Causes => {
  if (typeof issuerName !== 'string' || issuerName === before || known.includes(issuerName)) return [];
  const supported = known.map((name) => JSON.stringify(name)).join(', ');
  return [{ reason: 'FieldValueNotSupported', field: 'spec.issuerName', message: `Unsupported value: ${JSON.stringify(issuerName)}: supported values: ${supported}` }];
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
