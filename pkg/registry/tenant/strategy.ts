import { tenants, type TenantSpec } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { recordDefinition } from '../../../api/records/v1alpha1/records.ts';
import { collisionOf } from '../../tenant/collisions.ts';
import { deletionPolicies, deletionPolicyAnnotation } from '../../tenant/marks.ts';
import { cleanupFinalizer, namespaceOf } from '../../tenant/names.ts';
import { hostnameFault } from '../hostname.ts';
import type { Causes, Strategy } from '../strategy.ts';
import { adviceAdmission } from './advice-admission.ts';
import { budgetAdmission } from './budget-admission.ts';
import { cordonAdmission } from './cordon-admission.ts';
import { quotaCauses } from './quotas.ts';
import { treeAdmission } from './tree-admission.ts';

const namePattern = /^[a-z][a-z0-9]*$/;
/** Helm takes 53 characters for a release's name, which is `tenant-` and the tenant's name. */
const releasePrefix = 'tenant-';
const maxReleaseName = 53;
const maxNamespace = 63;
/** Both host and scheduling class are kept in labels of the namespace. */
const maxLabelValue = 63;
const tooLong = `must be no more than ${maxLabelValue} characters: it is kept in a namespace label`;
const labelValueFault = (text: string): string | undefined =>
  /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text) ? undefined : 'must be letters, digits, dashes, underscores and dots, with a letter or digit at both ends: it is kept in a namespace label';

export const tenantStrategy: Strategy = {
  definition: tenants,
  record: recordDefinition(tenants),
  minimalSpec: {},
  finalizer: cleanupFinalizer,
  gatedFields: [['spec', 'host'], ['status']],
  validateName: (namespace, name) => {
    const computed = namespaceOf(namespace, name);
    if (!namePattern.test(name)) {
      return invalidName(name, "tenant names must start with a lower case letter and hold only lower case letters and digits: a dash would make the tenant's namespace ambiguous");
    }
    if (releasePrefix.length + name.length > maxReleaseName) {
      return invalidName(name, `must be no more than ${maxReleaseName - releasePrefix.length} characters: with the prefix ${JSON.stringify(releasePrefix)} it names a Helm release`);
    }
    if (computed.length > maxNamespace) {
      return invalidName(name, `the tenant's namespace would be ${JSON.stringify(computed)}, which has ${computed.length} characters; at most ${maxNamespace} are allowed`);
    }
    const collision = collisionOf(namespace, name);
    if (collision) {
      const { what, computed, owner } = collision;
      return invalidName(name, `the ${what} ${JSON.stringify(computed)} would be this tenant's and that of ${JSON.stringify(owner)} above it; choose another name`);
    }
    return [];
  },
  validate: (object, old) => [
    ...changedText(object, old, 'host', (host) => (host.length > maxLabelValue ? tooLong : hostnameFault(host))),
    ...changedText(object, old, 'schedulingClass', (name) => (name.length > maxLabelValue ? tooLong : labelValueFault(name))),
    ...quotaCauses(object, old),
    ...policyCauses(object, old),
  ],
  warnings: () => [],
  admissions: (environment) => [cordonAdmission(environment), treeAdmission(environment), adviceAdmission(environment), budgetAdmission(environment)],
};

/** A policy that is none would be taken for what it says. */
const policyCauses = ({ metadata }: KubeObject, old: KubeObject | undefined): Causes => {
  const policy = metadata.annotations?.[deletionPolicyAnnotation];
  if (policy === undefined || policy === old?.metadata.annotations?.[deletionPolicyAnnotation] || deletionPolicies.includes(policy)) return [];
  const shown = policy.length > maxLabelValue ? `${policy.slice(0, maxLabelValue)}…` : policy;
  const supported = deletionPolicies.map((each) => JSON.stringify(each)).join(', ');
  return [{ reason: 'FieldValueNotSupported', field: `metadata.annotations[${deletionPolicyAnnotation}]`, message: `Unsupported value: ${JSON.stringify(shown)}: supported values: ${supported}` }];
};

const invalidName = (name: string, why: string): Causes => [
  { reason: 'FieldValueInvalid', field: 'metadata.name', message: `Invalid value: ${JSON.stringify(name)}: ${why}` },
];

/** The fault of a text in the spec, if it was changed; a value of another type is for the schema to refuse. */
const changedText = (object: KubeObject, old: KubeObject | undefined, field: 'host' | 'schedulingClass', faultOf: (text: string) => string | undefined): Causes => {
  const [text, before] = [object, old].map((each) => (each?.spec as TenantSpec | undefined)?.[field]);
  if (typeof text !== 'string' || text === '' || text === before) return [];
  const why = faultOf(text);
  const shown = text.length > 2 * maxLabelValue ? `${text.slice(0, maxLabelValue)}…` : text;
  return why ? [{ reason: 'FieldValueInvalid', field: `spec.${field}`, message: `Invalid value: ${JSON.stringify(shown)}: ${why}` }] : [];
};
