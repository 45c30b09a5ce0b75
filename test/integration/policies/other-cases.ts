import { changeAt, create, packages, type Attempt, type Case, type Verdict } from './cases.ts';

const policy = 'cozystack-gateway-attached-namespaces-policy';
const tenant = (name: string): Verdict => ({ policy, says: `gateway.attachedNamespaces must not hold ${name}: tenants attach by their place in the tree` });
const platform = (gateway: unknown): object => ({ components: { platform: { values: { gateway } } } });
const attaching = (...attachedNamespaces: string[]): object => platform({ attachedNamespaces });
const packaged = (name: string, spec: object, verdict: Verdict): Case => ({ name, attempt: create(packages, '', spec), verdict });

/** Layer 3. */
export const packageCases: Case[] = [
  packaged('namespaces of the platform', attaching('cozy-harbor', 'default'), 'allowed'),
  packaged('none', attaching(), 'allowed'),
  packaged('nothing said of them', platform({ enabled: true }), 'allowed'),
  packaged('no components', {}, 'allowed'),
  packaged('no platform', { components: { other: { values: {} } } }, 'allowed'),
  packaged('a name that holds tenant-', attaching('not-tenant-acme'), 'allowed'),
  packaged('a tenant', attaching('tenant-acme'), tenant('tenant-acme')),
  packaged('a tenant among others', attaching('cozy-harbor', 'tenant-root'), tenant('tenant-root')),
  packaged('a tenant behind a space', attaching(' tenant-acme'), tenant('tenant-acme')),
  packaged('a tenant behind a comma', attaching('cozy-harbor,tenant-acme'), tenant('tenant-acme')),
  packaged('a text for a list', platform({ attachedNamespaces: 'tenant-acme' }), { policy, says: 'gateway.attachedNamespaces must be a list of names' }),
  packaged('a list of lists', platform({ attachedNamespaces: [['tenant-acme']] }), { code: 422, says: `'${policy}' denied request: expression 'variables.tenants.size() == 0' resulted in error` }),
  packaged('null for a list', platform({ attachedNamespaces: null }), { policy, says: 'gateway.attachedNamespaces must be a list of names' }),
  packaged('null for the gateway', platform(null), 'allowed'),
  { name: 'a tenant, by the ServiceAccount of the platform', as: 'a ServiceAccount of cozy-system', attempt: create(packages, '', attaching('tenant-acme')), verdict: tenant('tenant-acme') },
  { name: 'a change to a tenant', attempt: changeAt('/apis/cozystack.io/v1alpha1/packages/kept', { spec: attaching('tenant-acme') }), verdict: tenant('tenant-acme') },
  { name: 'a change of labels', attempt: changeAt('/apis/cozystack.io/v1alpha1/packages/kept', { metadata: { labels: { a: 'b' } } }), verdict: 'allowed' },
];

const records = 'tenant-apiserver-records';
const instead = (plural: string, use: string): Verdict => ({
  policy: records, says: `${plural}.records.cozystack.io is where tenant-apiserver keeps its objects, and only the server writes it; use ${use} instead`,
});
const recordsIn = (plural: string): string => `/apis/records.cozystack.io/v1alpha1/namespaces/tenant-root/${plural}`;
const postRecord = (plural: string, kind: string, spec: object): Attempt => ({
  method: 'POST', path: `${recordsIn(plural)}?dryRun=All`, body: { apiVersion: 'records.cozystack.io/v1alpha1', kind, metadata: { name: 'attempt' }, spec },
});
const tenantRecord = postRecord('tenantrecords', 'TenantRecord', { host: 'dashboard.example.org' });
const gatewayRecord = postRecord('tenantgatewayrecords', 'TenantGatewayRecord', { apex: 'example.org', attachedNamespaces: ['tenant-other'] });
const acme = `${recordsIn('tenantrecords')}/acme`;

/** What lies behind layers 4 and 6: records that were written past the server would have missed its admission. */
export const recordCases: Case[] = [
  ...(['administrator', 'a cluster administrator', 'a ServiceAccount of cozy-system', 'a ServiceAccount of cozy-fluxcd', 'the namespace controller'] as const).flatMap((as): Case[] => [
    { name: `${as} writes a tenant's host into a record`, as, attempt: tenantRecord, verdict: instead('tenantrecords', 'tenants.apps.cozystack.io') },
    { name: `${as} attaches tenants by a record`, as, attempt: gatewayRecord, verdict: instead('tenantgatewayrecords', 'tenantgateways.gateway.cozystack.io') },
  ]),
  { name: "the administrator changes a record's host", attempt: changeAt(acme, { spec: { host: 'dashboard.example.org' } }), verdict: instead('tenantrecords', 'tenants.apps.cozystack.io') },
  { name: "the administrator changes a record's status", attempt: changeAt(`${acme}/status`, { status: { host: 'dashboard.example.org' } }), verdict: instead('tenantrecords', 'tenants.apps.cozystack.io') },
  { name: 'the administrator deletes a record', attempt: { method: 'DELETE', path: `${acme}?dryRun=All` }, verdict: instead('tenantrecords', 'tenants.apps.cozystack.io') },
  { name: 'the server writes a record', as: 'the server', attempt: tenantRecord, verdict: 'allowed' },
];

const tenants = '/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-root/tenants';
const postTenant = (spec: object): Attempt => ({ method: 'POST', path: `${tenants}?dryRun=All`, body: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { name: 'attempt' }, spec } });
const gated: Verdict = { code: 403, says: 'spec.host can only be set, changed or removed by a member of a trusted group' };

/** Layer 4; test/integration/refusals.test.ts has all ways to write. */
export const tenantCases: Case[] = [
  ...(['a cluster administrator', 'an app chart'] as const).flatMap((as): Case[] => [
    { name: `${as} sets a host`, as, attempt: postTenant({ host: 'dashboard.example.org' }), verdict: gated },
    { name: `${as} changes the host of root`, as, attempt: changeAt(`${tenants}/root`, { spec: { host: 'example.com' } }), verdict: gated },
    { name: `${as} removes the host of root`, as, attempt: changeAt(`${tenants}/root`, { spec: { host: null } }), verdict: gated },
    { name: `${as} creates a tenant without host`, as, attempt: postTenant({}), verdict: 'allowed' },
  ]),
  ...(['administrator', 'a ServiceAccount of cozy-system', 'a ServiceAccount of cozy-cert-manager', 'a ServiceAccount of cozy-fluxcd', 'a ServiceAccount of kube-system'] as const).map((as): Case => (
    { name: `${as} sets a host`, as, attempt: postTenant({ host: 'customer1.io' }), verdict: 'allowed' })),
];

const gateways = '/apis/gateway.cozystack.io/v1alpha1/namespaces/tenant-root/tenantgateways';
const postGateway = (attachedNamespaces: string[]): Attempt => ({
  method: 'POST', path: `${gateways}?dryRun=All`, body: { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { name: 'attempt' }, spec: { apex: 'example.org', attachedNamespaces } },
});
const byInheritance: Verdict = { code: 422, says: 'spec.attachedNamespaces[1]: Forbidden: tenant namespaces attach by inheritance; leave them out of this list' };

/** Layer 6. */
export const tenantGatewayCases: Case[] = [
  { name: 'namespaces of the platform', attempt: postGateway(['cozy-harbor', 'default']), verdict: 'allowed' },
  ...(['administrator', 'a cluster administrator', 'a ServiceAccount of cozy-system'] as const).map((as): Case => ({ name: `a tenant, by ${as}`, as, attempt: postGateway(['cozy-harbor', 'tenant-acme']), verdict: byInheritance })),
];

export const packageAttack = create(packages, '', attaching('tenant-acme'));
/** What the server would write if its own admission let it pass. */
export const recordAttacks = { host: tenantRecord, attachedNamespaces: gatewayRecord };
