import { tenants, type TenantSpec } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { recordDefinition } from '../../../api/records/v1alpha1/records.ts';
import { cleanupFinalizer, namespaceOf } from '../../tenant/names.ts';
import { hostnameFault } from '../hostname.ts';
import type { Causes, Strategy } from '../strategy.ts';

const namePattern = /^[a-z][a-z0-9]*$/;
/** Helm takes 53 characters for a release's name, which is `tenant-` and the tenant's name. */
const releasePrefix = 'tenant-';
const maxReleaseName = 53;
const maxNamespace = 63;
/** The host is kept in a namespace label, whose value holds 63 characters. */
const maxHost = 63;

export const tenantStrategy: Strategy = {
  definition: tenants,
  record: recordDefinition(tenants),
  minimalSpec: {},
  finalizer: cleanupFinalizer,
  gatedFields: [['spec', 'host']],
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
    return [];
  },
  validate: (object, old) => {
    const host = hostOf(object);
    if (!host || host === hostOf(old)) return [];
    const why = host.length > maxHost ? `must be no more than ${maxHost} characters: it is kept in a namespace label` : hostnameFault(host);
    return why ? [{ reason: 'FieldValueInvalid', field: 'spec.host', message: `Invalid value: ${JSON.stringify(host)}: ${why}` }] : [];
  },
  warnings: () => [],
};

const invalidName = (name: string, why: string): Causes => [
  { reason: 'FieldValueInvalid', field: 'metadata.name', message: `Invalid value: ${JSON.stringify(name)}: ${why}` },
];

const hostOf = (object: KubeObject | undefined): string => {
  const host = (object?.spec as TenantSpec | undefined)?.host;
  return typeof host === 'string' ? host : ''; // another type is for the schema to refuse
};
