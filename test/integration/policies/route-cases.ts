import { change, create, grpcRoutes, hosts, httpRoutes, oldHttpRoutes, tcpRoutes, tlsRoutes, udpRoutes, type Case, type Resource, type Verdict } from './cases.ts';

const acme = 'tenant-acme';
const hostnamePolicy = 'cozystack-route-hostname-policy';
const rawPolicy = 'cozystack-raw-route-policy';
const parentRefs = [{ name: 'cozystack', namespace: 'tenant-root' }];
const backendRefs = [{ name: 'app', port: 80 }];
const rules = [{ backendRefs }];

const route = (...hostnames: string[]): object => ({ parentRefs, hostnames, rules });
const foreign = (hostname: string, namespace: keyof typeof hosts = acme): Verdict => ({
  policy: hostnamePolicy, says: `hostnames must equal ${hosts[namespace]?.toLowerCase()} or lie below it, which is the host of namespace ${namespace}: ${hostname} does not`,
});
const hostless = (namespace: string): Verdict => ({
  policy: hostnamePolicy, says: `namespace ${namespace} has no host (label namespace.cozystack.io/host), so that no route in it may claim a name; set spec.host of its Tenant`,
});
const nameless: Verdict = { policy: hostnamePolicy, says: 'spec.hostnames must not be empty: the route would take every name of the Gateway that it attaches to' };

const casesOf = (resource: Resource): Case[] => {
  const what = `${resource.kind} ${resource.version}`;
  const claim = (name: string, hostnames: string[], verdict: Verdict, namespace: string = acme): Case => ({ name: `${what}: ${name}`, attempt: create(resource, namespace, route(...hostnames)), verdict });
  return [
    claim("the namespace's host", ['acme.example.org'], 'allowed'),
    claim('hosts below it, and a wildcard', ['www.acme.example.org', '*.acme.example.org'], 'allowed'),
    claim("the platform's own name", ['dashboard.example.org'], foreign('dashboard.example.org')),
    claim('a foreign host behind an own one', ['www.acme.example.org', 'dashboard.example.org'], foreign('dashboard.example.org')),
    claim('a wildcard of the apex above', ['*.example.org'], foreign('*.example.org')),
    claim('a name that ends alike', ['evilacme.example.org'], foreign('evilacme.example.org')),
    claim('a host in mixed case', ['WWW.acme.example.org'], { code: 422, says: 'spec.hostnames[0] in body should match' }),
    claim('a host with a trailing dot', ['dashboard.example.org.'], { code: 422, says: 'spec.hostnames[0] in body should match' }),
    claim('the own host where the label is in mixed case', ['www.mixed.example.org'], 'allowed', 'tenant-mixed'),
    claim('a name that ends alike where the label is in mixed case', ['evilmixed.example.org'], foreign('evilmixed.example.org', 'tenant-mixed'), 'tenant-mixed'),
    claim('any host where the label is missing', ['www.acme.example.org'], hostless('tenant-bare'), 'tenant-bare'),
    claim('any host where the label is empty', ['www.acme.example.org'], hostless('tenant-empty'), 'tenant-empty'),
    claim('any host of the platform', ['dashboard.example.org'], 'allowed', 'cozy-harbor'),
    claim('any host where no tenant is', ['dashboard.example.org'], 'allowed', 'plain'),
    { name: `${what}: a foreign host, by the server itself`, as: 'a ServiceAccount of cozy-system', attempt: create(resource, acme, route('dashboard.example.org')), verdict: foreign('dashboard.example.org') },
    { name: `${what}: a change to a foreign host`, attempt: change(resource, 'tenant-moved', 'kept', { spec: { hostnames: ['dashboard.example.org'] } }), verdict: foreign('dashboard.example.org', 'tenant-moved') },
    { name: `${what}: a change that keeps a host that was once its own`, attempt: change(resource, 'tenant-moved', 'kept', { spec: { parentRefs } }), verdict: foreign('www.old.example.org', 'tenant-moved') },
    { name: `${what}: finalizers off where the host was once its own`, attempt: change(resource, 'tenant-moved', 'kept', { metadata: { finalizers: null } }), verdict: 'allowed' },
  ];
};

const redirect = { type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } };
const ownHttp = { name: 'cozystack', sectionName: 'http' };
const redirecting = (rest: object = {}): object => ({ parentRefs: [ownHttp], rules: [{ filters: [redirect] }], ...rest });
const mesh = { group: '', kind: 'Service', name: 'app', port: 80 };
const without = (name: string, spec: object, verdict: Verdict, resource: Resource = httpRoutes): Case => ({ name: `${resource.kind} without hostnames: ${name}`, attempt: create(resource, acme, spec), verdict });

const namelessCases: Case[] = [
  without('to the Gateway above', { parentRefs, rules }, nameless),
  without('an empty list', route(), nameless),
  without('to its own Gateway', { parentRefs: [{ name: 'cozystack' }], rules }, nameless),
  without('to nothing', { rules }, nameless),
  without('the redirect that the controller makes', redirecting(), 'allowed'),
  without('a redirect on the Gateway above', redirecting({ parentRefs: [{ ...ownHttp, namespace: 'tenant-root' }] }), nameless),
  without('a redirect on every listener', redirecting({ parentRefs: [{ name: 'cozystack' }] }), nameless),
  without('a redirect on TLS, too', redirecting({ parentRefs: [ownHttp, { name: 'cozystack', sectionName: 'https' }] }), nameless),
  without('a redirect to another host', redirecting({ rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', hostname: 'evil.example.com' } }] }] }), nameless),
  without('a redirect to plain HTTP', redirecting({ rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'http' } }] }] }), nameless),
  without('a redirect, and a rule that serves', redirecting({ rules: [{ filters: [redirect] }, { backendRefs }] }), nameless),
  { name: 'HTTPRoute without hostnames: a redirect where the label is missing', attempt: create(httpRoutes, 'tenant-bare', redirecting()), verdict: hostless('tenant-bare') },
  without("a mesh's, of its own Service", { parentRefs: [mesh], rules }, 'allowed'),
  without("a mesh's, of another namespace's Service", { parentRefs: [{ ...mesh, namespace: 'tenant-root' }], rules }, nameless),
  without("a mesh's, and a Gateway", { parentRefs: [mesh, ...parentRefs], rules }, nameless),
  without('to the Gateway above', { parentRefs, rules }, nameless, grpcRoutes),
  without('to port 80, without rules', { parentRefs: [ownHttp] }, nameless, grpcRoutes),
  without("a mesh's, of its own Service", { parentRefs: [mesh], rules }, 'allowed', grpcRoutes),
  without("a mesh's, and the default Gateways", { parentRefs: [mesh], useDefaultGateways: 'All', rules }, nameless, grpcRoutes),
  // Of TLSRoute's versions, the schema of some requires them.
  without('v1', { parentRefs, rules }, { code: 422, says: 'spec.hostnames: Required value' }, tlsRoutes[0]),
  without('v1alpha2', { parentRefs, rules }, nameless, tlsRoutes[1]),
  without('v1alpha3', { parentRefs, rules }, { code: 422, says: 'spec.hostnames: Required value' }, tlsRoutes[2]),
  { name: 'HTTPRoute without hostnames: a change that takes them away', attempt: change(httpRoutes, 'tenant-moved', 'kept', { spec: { hostnames: null } }), verdict: nameless },
];

/** Layer 7, with hostnames. */
export const routeHostnameCases: Case[] = [...[httpRoutes, oldHttpRoutes, grpcRoutes, ...tlsRoutes].flatMap(casesOf), ...namelessCases];

const rawCasesOf = (resource: Resource): Case[] => {
  const what = `${resource.kind} ${resource.version}`;
  const attach = (name: string, parents: object[], verdict: Verdict, namespace: string = acme): Case => ({ name: `${what}: ${name}`, attempt: create(resource, namespace, { parentRefs: parents, rules }), verdict });
  const foreignParent = (namespace: string): Verdict => ({
    policy: rawPolicy, says: `a ${resource.kind} has no hostnames, so that it may attach in its own namespace ${namespace} alone, and not in tenant-root`,
  });
  return [
    attach('to its own Gateway', [{ name: 'cozystack' }], 'allowed'),
    attach('to its own Gateway, by name', [{ name: 'cozystack', namespace: acme }], 'allowed'),
    attach('to the Gateway above', parentRefs, foreignParent(acme)),
    attach('to the Gateway above besides its own', [{ name: 'cozystack', port: 1 }, { ...parentRefs[0], port: 1 }], foreignParent(acme)),
    attach('to the Gateway above where the label is missing', parentRefs, foreignParent('tenant-bare'), 'tenant-bare'),
    attach("to another namespace's Gateway, of the platform", parentRefs, 'allowed', 'cozy-harbor'),
    attach("to another namespace's Gateway, where no tenant is", parentRefs, 'allowed', 'plain'),
    { name: `${what}: a change to the Gateway above`, attempt: change(resource, 'tenant-moved', 'kept', { spec: { parentRefs } }), verdict: foreignParent('tenant-moved') },
    { name: `${what}: by an app chart`, as: 'an app chart', attempt: create(resource, acme, { parentRefs, rules }), verdict: foreignParent(acme) },
  ];
};

/** Layer 7, without hostnames. */
export const rawRouteCases: Case[] = [
  ...[...tcpRoutes, udpRoutes].flatMap(rawCasesOf),
  {
    name: 'TCPRoute v1: to the default Gateways', attempt: create(tcpRoutes[0]!, acme, { useDefaultGateways: 'All', rules }),
    verdict: { policy: rawPolicy, says: 'a TCPRoute has no hostnames, so that it must not attach to default Gateways' },
  },
];

export const routeAttacks = {
  hostname: create(grpcRoutes, acme, route('dashboard.example.org')),
  raw: create(tcpRoutes[0]!, acme, { parentRefs, rules }),
};
