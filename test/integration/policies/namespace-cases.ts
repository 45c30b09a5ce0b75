import { changeAt, remove, type Attempt, type Case, type Verdict, type Who } from './cases.ts';

const policy = 'cozystack-namespace-host-label-policy';
const acme = '/api/v1/namespaces/tenant-acme';
const host = 'namespace.cozystack.io/host';

const usernames = {
  'a cluster administrator': 'alice',
  'an app chart': 'system:serviceaccount:tenant-acme:chart',
  'a ServiceAccount of cozy-system': 'system:serviceaccount:cozy-system:other',
  'a ServiceAccount of cozy-cert-manager': 'system:serviceaccount:cozy-cert-manager:cert-manager',
  'a ServiceAccount of cozy-fluxcd': 'system:serviceaccount:cozy-fluxcd:helm-controller',
  'a ServiceAccount of kube-system': 'system:serviceaccount:kube-system:some-controller',
  'the namespace controller': 'system:serviceaccount:kube-system:namespace-controller',
} as const;
type Named = keyof typeof usernames;

const shown = (value: string | null): string => (value === null ? 'absent' : `"${value}"`);
const immutable = (key: string, from: string | null, to: string | null, who: Named): Verdict => ({
  policy, says: `label ${key} is immutable for User "${usernames[who]}", who is in no group of the platform: ${shown(from)} would become ${shown(to)}; it follows from the Tenant`,
});
const attached = (key: string, who: Named): Verdict => ({
  policy, says: `label ${key} is immutable for User "${usernames[who]}": only tenant-apiserver attaches namespaces to gateways, by their place in the tree and by attachedNamespaces`,
});

const create = (labels: Record<string, string>): Attempt => ({ method: 'POST', path: '/api/v1/namespaces?dryRun=All', body: { metadata: { name: 'tenant-attempt', labels } } });
const label = (key: string, value: string | null, at = acme): Attempt => changeAt(at, { metadata: { labels: { [key]: value } } });
const apply = (labels: Record<string, string>): Attempt => ({
  method: 'PATCH', path: `${acme}?dryRun=All&fieldManager=test&force=true`, type: 'application/apply-patch+yaml', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-acme', labels } },
});

/** A subresource as its writers send it, the object as it is but for these labels; `finalize` knows no patches. */
const through = (subresource: string, labels: Record<string, string>): Attempt => ({
  method: 'PUT', path: `${acme}/${subresource}?dryRun=All`, from: { path: acme, body: (live) => ({ ...live, metadata: { ...live.metadata, labels: { ...live.metadata.labels, ...labels } } }) },
});

/** Every label that is guarded, with what it is in tenant-acme. */
const guarded: [string, string | null][] = [
  [host, 'acme.example.org'],
  ['namespace.cozystack.io/gateway', 'tenant-acme'],
  ['namespace.cozystack.io/ingress', ''],
  ['namespace.cozystack.io/unheard-of', null],
  ['tenant.cozystack.io/tenant-root', ''],
  ['tenant.cozystack.io/tenant-other', null],
  ['attach.gateway.cozystack.io/tenant-other', null],
  ['projectcapsule.dev/cordoned', null],
];
const untrusted: Named[] = ['a cluster administrator', 'an app chart'];
const trusted: Who[] = ['administrator', 'a ServiceAccount of cozy-system', 'a ServiceAccount of cozy-cert-manager', 'a ServiceAccount of cozy-fluxcd', 'a ServiceAccount of kube-system'];
const attach = 'attach.gateway.cozystack.io/tenant-other';

/** Layer 5. */
export const namespaceCases: Case[] = [
  ...guarded.flatMap(([key, was]) => untrusted.flatMap((as): Case[] => [
    { name: `${as} creates a namespace with ${key}`, as, attempt: create({ [key]: 'evil' }), verdict: immutable(key, null, 'evil', as) },
    { name: `${as} changes ${key}`, as, attempt: label(key, 'evil'), verdict: immutable(key, was, 'evil', as) },
    ...(was === null ? [] : [{ name: `${as} removes ${key}`, as, attempt: label(key, null), verdict: immutable(key, was, null, as) }]),
  ])),
  ...[host, 'tenant.cozystack.io/tenant-other', attach].map((key): Case => ({ name: `an app chart creates a namespace with an empty ${key}`, as: 'an app chart', attempt: create({ [key]: '' }), verdict: immutable(key, null, '', 'an app chart') })),
  { name: 'an app chart empties the host', as: 'an app chart', attempt: label(host, ''), verdict: immutable(host, 'acme.example.org', '', 'an app chart') },
  { name: 'an app chart changes no more than the case of the host', as: 'an app chart', attempt: label(host, 'Acme.example.org'), verdict: immutable(host, 'acme.example.org', 'Acme.example.org', 'an app chart') },
  { name: 'an app chart applies another host', as: 'an app chart', attempt: apply({ [host]: 'evil' }), verdict: immutable(host, 'acme.example.org', 'evil', 'an app chart') },
  { name: 'an app chart applies the host that is there', as: 'an app chart', attempt: apply({ [host]: 'acme.example.org' }), verdict: 'allowed' },
  ...['status', 'finalize'].flatMap((subresource): Case[] => [
    { name: `an app chart changes the host through ${subresource}`, as: 'an app chart', attempt: through(subresource, { [host]: 'evil' }), verdict: immutable(host, 'acme.example.org', 'evil', 'an app chart') },
    { name: `an app chart attaches through ${subresource}`, as: 'an app chart', attempt: through(subresource, { [attach]: '' }), verdict: immutable(attach, null, '', 'an app chart') },
    { name: `a ServiceAccount of kube-system attaches through ${subresource}`, as: 'a ServiceAccount of kube-system', attempt: through(subresource, { [attach]: '' }), verdict: attached(attach, 'a ServiceAccount of kube-system') },
    { name: `the namespace controller writes ${subresource}`, as: 'the namespace controller', attempt: through(subresource, {}), verdict: 'allowed' },
    { name: `an app chart writes ${subresource} and no labels`, as: 'an app chart', attempt: through(subresource, {}), verdict: 'allowed' },
  ]),
  { name: 'an app chart lifts a cordon', as: 'an app chart', attempt: label('projectcapsule.dev/cordoned', null, '/api/v1/namespaces/tenant-cordoned'), verdict: immutable('projectcapsule.dev/cordoned', 'true', null, 'an app chart') },
  { name: "an app chart cordons what is no tenant's", as: 'an app chart', attempt: label('projectcapsule.dev/cordoned', 'true', '/api/v1/namespaces/plain'), verdict: 'allowed' },
  { name: 'an app chart sets another label', as: 'an app chart', attempt: label('team', 'web'), verdict: 'allowed' },
  { name: 'an app chart sets a label that begins alike', as: 'an app chart', attempt: label('namespace.cozystack.io.example.com/host', 'x'), verdict: 'allowed' },
  { name: 'an app chart creates a namespace without labels', as: 'an app chart', attempt: create({}), verdict: 'allowed' },
  { name: 'an app chart deletes a namespace', as: 'an app chart', attempt: remove('/api/v1/namespaces/tenant-moved'), verdict: 'allowed' },
  ...trusted.flatMap((as): Case[] => [
    { name: `${as} creates a namespace with a host`, as, attempt: create({ [host]: 'new.example.org' }), verdict: 'allowed' },
    { name: `${as} changes the host`, as, attempt: label(host, 'new.example.org'), verdict: 'allowed' },
    { name: `${as} sets a place in the tree`, as, attempt: label('tenant.cozystack.io/tenant-other', ''), verdict: 'allowed' },
  ]),
  { name: 'the server changes the host', as: 'the server', attempt: label(host, 'new.example.org'), verdict: 'allowed' },
  { name: 'the server attaches', as: 'the server', attempt: label(attach, ''), verdict: 'allowed' },
  { name: 'the administrator attaches', attempt: label(attach, ''), verdict: 'allowed' },
  ...(['a ServiceAccount of cozy-system', 'a ServiceAccount of cozy-cert-manager', 'a ServiceAccount of cozy-fluxcd', 'a ServiceAccount of kube-system', 'the namespace controller'] as const).map((as): Case => (
    { name: `${as} attaches`, as, attempt: label(attach, ''), verdict: attached(attach, as) })),
];

const kept = (name: string): Verdict => ({
  policy: 'tenant-apiserver-no-delete',
  says: `namespace ${name} holds tenants or the platform itself, and is kept when tenant-apiserver is deleted; to delete it all the same, first remove its label platform.cozystack.io/no-delete`,
});

/** Namespaces that outlive an uninstallation. */
export const guardCases: Case[] = ['tenant-root', 'cozy-system'].flatMap((name) => (['administrator', 'a cluster administrator', 'the server'] as const).map((as): Case => (
  { name: `${as} deletes namespace ${name}`, as, attempt: remove(`/api/v1/namespaces/${name}`), verdict: kept(name) })));

export const labelAttack = label(host, 'dashboard.example.org');
export const attachAttack = label(attach, '');
