import { change, create, hosts, ingresses, rootApex, type Case, type Verdict, type Who } from './cases.ts';

const acme = 'tenant-acme';
const policy = 'cozystack-ingress-hostname-policy';
const withoutHost = `${policy}-without-host`;

const backend = { service: { name: 'app', port: { number: 80 } } };
const rule = (host?: string): object => ({ ...(host !== undefined && { host }), http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } });
const serving = (...served: string[]): object => ({ rules: served.map(rule) });
const aliased = (alias: string, key = 'nginx.ingress.kubernetes.io/server-alias'): object => ({ annotations: { [key]: alias } });

const redirect = 'nginx.ingress.kubernetes.io/from-to-www-redirect';

const numbered = (length: number): string[] => Array.from({ length }, (_, index) => `host-${index}.customer.io`);
const hundred = numbered(100);
const manyHosts = [...numbered(1999), 'www.acme.example.org'];
const many = { ...serving(...manyHosts), tls: [{ hosts: manyHosts, secretName: 'tls' }] };

const foreign = (host: string, namespace: keyof typeof hosts = acme): Verdict => ({
  policy, says: `host ${host} must equal ${hosts[namespace]?.toLowerCase()} or lie below it, which is the host of namespace ${namespace}, or be one without wildcard outside of the apex of the platform, ${rootApex}`,
});
const hostless = (namespace: string, binding: string): Verdict => ({
  policy, binding, says: `namespace ${namespace} has no host (label namespace.cozystack.io/host), so that no Ingress in it may claim a name; set spec.host of its Tenant`,
});
const counterpart = (host: string, namespace: keyof typeof hosts): Verdict => {
  const { policy: by, says } = foreign(host, namespace) as { policy: string; says: string };
  return { policy: by, says: says.replace(`host ${host} must`, `host ${host}, which annotation from-to-www-redirect adds, must`) };
};
const nameless: Verdict = { policy, says: 'spec.rules[].host must be set: a rule without it takes every name' };
const catchAll: Verdict = { policy, says: 'spec.defaultBackend must not be set: it takes every name that nobody else has' };
const notLower = { code: 422, says: 'a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters' };

const served = (name: string, host: string, verdict: Verdict, namespace: string = acme, as?: Who): Case => ({ name, as, attempt: create(ingresses, namespace, serving(host)), verdict });
const secured = (name: string, host: string, verdict: Verdict): Case => ({ name: `for TLS, ${name}`, attempt: create(ingresses, acme, { ...serving('www.acme.example.org'), tls: [{ hosts: [host], secretName: 'tls' }] }), verdict });
const alias = (name: string, value: string, verdict: Verdict, key?: string): Case => ({ name: `as an alias, ${name}`, attempt: create(ingresses, acme, serving('www.acme.example.org'), aliased(value, key)), verdict });
/** In the namespace of a tenant whose own host begins with www. */
const redirected = (name: string, host: string, verdict: Verdict, value = 'true', key = redirect): Case => ({ name: `with and without www., ${name}`, attempt: create(ingresses, 'tenant-www', serving(host), aliased(value, key)), verdict });

/** Layer 8. */
export const ingressCases: Case[] = [
  served("the namespace's host", 'acme.example.org', 'allowed'),
  served('a host below it', 'www.acme.example.org', 'allowed'),
  served('a wildcard below it', '*.acme.example.org', 'allowed'),
  served('a host outside of the platform', 'www.customer.io', 'allowed'),
  served('a host that ends like the apex of the platform', 'evilexample.org', 'allowed'),
  served("the platform's own name", 'dashboard.example.org', foreign('dashboard.example.org')),
  served('the apex of the platform', 'example.org', foreign('example.org')),
  served("a sibling's host", 'www.other.example.org', foreign('www.other.example.org')),
  served('a name that ends alike', 'evilacme.example.org', foreign('evilacme.example.org')),
  served('a wildcard of the apex of the platform', '*.example.org', foreign('*.example.org')),
  served('a wildcard of what is above it', '*.org', foreign('*.org')),
  served('a wildcard outside of the platform', '*.customer.io', foreign('*.customer.io')),
  served("the platform's own name in mixed case", 'Dashboard.example.org', notLower),
  served("the platform's own name with a trailing dot", 'dashboard.example.org.', notLower),
  served("the platform's own name in Unicode", 'dashboard.exampl\u0435.org', notLower),
  served('the own host where the label is in mixed case', 'www.mixed.example.org', 'allowed', 'tenant-mixed'),
  served('a foreign host where the label is in mixed case', 'dashboard.example.org', foreign('dashboard.example.org', 'tenant-mixed'), 'tenant-mixed'),
  served('a host of its own outside of the apex', '*.customer1.io', 'allowed', 'tenant-customer'),
  served("the platform's own name, where the own host is outside", 'dashboard.example.org', foreign('dashboard.example.org', 'tenant-customer'), 'tenant-customer'),
  served('any host where the label is missing', 'www.customer.io', hostless('tenant-bare', withoutHost), 'tenant-bare'),
  served('any host where the label is empty', 'www.customer.io', hostless('tenant-empty', policy), 'tenant-empty'),
  served('any host of the platform', 'dashboard.example.org', 'allowed', 'cozy-harbor'),
  served('any host where no tenant is', 'dashboard.example.org', 'allowed', 'plain'),
  served("the platform's own name, by an app chart", 'dashboard.example.org', foreign('dashboard.example.org'), acme, 'an app chart'),
  served("the platform's own name, by a cluster administrator", 'dashboard.example.org', foreign('dashboard.example.org'), acme, 'a cluster administrator'),
  served("the platform's own name, by Flux", 'dashboard.example.org', foreign('dashboard.example.org'), acme, 'a ServiceAccount of cozy-fluxcd'),
  { name: "the platform's own name behind an own one", attempt: create(ingresses, acme, serving('www.acme.example.org', 'dashboard.example.org')), verdict: foreign('dashboard.example.org') },
  { name: 'a hundred hosts', attempt: create(ingresses, acme, serving(...hundred)), verdict: 'allowed' },
  { name: 'the last of a hundred foreign', attempt: create(ingresses, acme, serving(...hundred, 'dashboard.example.org')), verdict: foreign('dashboard.example.org') },
  { name: 'two thousand hosts, with TLS', attempt: create(ingresses, acme, many), verdict: 'allowed' },
  { name: 'two thousand hosts, with TLS, with and without www.', attempt: create(ingresses, acme, many, aliased('true', redirect)), verdict: 'allowed' },
  { name: 'two thousand hosts, with TLS, of which the last is foreign without www.', attempt: create(ingresses, 'tenant-www', many, aliased('true', redirect)), verdict: counterpart('acme.example.org', 'tenant-www') },

  { name: 'a rule without host', attempt: create(ingresses, acme, { rules: [rule()] }), verdict: nameless },
  { name: 'a rule with an empty host', attempt: create(ingresses, acme, { rules: [rule('')] }), verdict: nameless },
  { name: 'a rule without host behind one with', attempt: create(ingresses, acme, { rules: [rule('www.acme.example.org'), rule()] }), verdict: nameless },
  { name: 'a default backend', attempt: create(ingresses, acme, { defaultBackend: backend }), verdict: catchAll },
  { name: 'a default backend besides a rule', attempt: create(ingresses, acme, { ...serving('www.acme.example.org'), defaultBackend: backend }), verdict: catchAll },
  { name: 'nothing', attempt: create(ingresses, acme, {}), verdict: { code: 422, says: 'either `defaultBackend` or `rules` must be specified' } },
  { name: 'a default backend of the platform', attempt: create(ingresses, 'cozy-harbor', { defaultBackend: backend }), verdict: 'allowed' },

  secured('the own host', 'www.acme.example.org', 'allowed'),
  secured('a wildcard below it', '*.acme.example.org', 'allowed'),
  secured('a host outside of the platform', 'www.customer.io', 'allowed'),
  secured("the platform's own name", 'dashboard.example.org', foreign('dashboard.example.org')),
  secured('a wildcard of the apex of the platform', '*.example.org', foreign('*.example.org')),
  secured("the platform's own name in mixed case", 'DASHBOARD.example.org', notLower),
  { name: 'for TLS, no hosts', attempt: create(ingresses, acme, { ...serving('www.acme.example.org'), tls: [{ secretName: 'tls' }] }), verdict: { policy, says: 'spec.tls[].hosts must not be empty: an entry without them is for every name' } },

  alias('the own host', 'api.acme.example.org', 'allowed'),
  alias('hosts of both kinds', 'api.acme.example.org, www.customer.io', 'allowed'),
  alias("the platform's own name", 'dashboard.example.org', foreign('dashboard.example.org')),
  alias("the platform's own name behind an own one", 'api.acme.example.org,dashboard.example.org', foreign('dashboard.example.org')),
  alias("the platform's own name in mixed case", 'Dashboard.Example.ORG', foreign('dashboard.example.org')),
  alias("the platform's own name with a trailing dot", 'dashboard.example.org.', foreign('dashboard.example.org.')),
  alias('a regular expression', '~^.*\\.acme.example.org', foreign('~^.*\\.acme.example.org')),
  alias("the platform's own name, of HAProxy's", 'dashboard.example.org', foreign('dashboard.example.org'), 'haproxy-ingress.github.io/server-alias'),
  alias("a regular expression, of HAProxy's", 'dash.*\\.example\\.org', foreign('~dash.*\\.example\\.org'), 'haproxy-ingress.github.io/server-alias-regex'),
  alias("a regular expression that looks like a name, of HAProxy's", 'org', foreign('~org'), 'haproxy-ingress.github.io/server-alias-regex'),
  alias("an own name to redirect from, of HAProxy's", 'old.acme.example.org', 'allowed', 'haproxy-ingress.github.io/redirect-from'),
  alias("the platform's own name to redirect from, of HAProxy's", 'dashboard.example.org', foreign('dashboard.example.org'), 'haproxy-ingress.github.io/redirect-from'),
  alias("a regular expression to redirect from, of HAProxy's", 'org', foreign('~org'), 'haproxy-ingress.github.io/redirect-from-regex'),

  redirected("the own host, where the other is the parent's", 'www.acme.example.org', counterpart('acme.example.org', 'tenant-www')),
  redirected('the own host, at a controller with another prefix', 'www.acme.example.org', counterpart('acme.example.org', 'tenant-www'), 'true', 'ingress.example.org/from-to-www-redirect'),
  ...['1', 'T', 'TRUE', 'False', 'perhaps', ''].map((value) => redirected(`by "${value}", the own host`, 'www.acme.example.org', counterpart('acme.example.org', 'tenant-www'), value)),
  redirected('by "false", the own host', 'www.acme.example.org', 'allowed', 'false'),
  redirected('a host below the own', 'shop.www.acme.example.org', 'allowed'),
  redirected('the own host with another www.', 'www.www.acme.example.org', 'allowed'),
  redirected('a wildcard below the own', '*.www.acme.example.org', 'allowed'),
  redirected('a host outside of the platform', 'www.customer.io', 'allowed'),
  { name: 'with and without www., a host that begins like it', attempt: create(ingresses, acme, serving('www2.acme.example.org'), aliased('true', redirect)), verdict: 'allowed' },
  { name: "with and without www., the parent's host behind others", attempt: create(ingresses, 'tenant-www', serving('shop.www.acme.example.org', 'www.acme.example.org'), aliased('true', redirect)), verdict: counterpart('acme.example.org', 'tenant-www') },

  { name: "a change to the platform's own name", attempt: change(ingresses, 'tenant-moved', 'kept', { spec: serving('dashboard.example.org') }), verdict: foreign('dashboard.example.org', 'tenant-moved') },
  { name: 'a change that keeps the host that was once its own', attempt: change(ingresses, 'tenant-moved', 'kept', { spec: { ingressClassName: 'other' } }), verdict: foreign('www.old.example.org', 'tenant-moved') },
  { name: 'an alias where the host was once its own', attempt: change(ingresses, 'tenant-moved', 'kept', { metadata: aliased('dashboard.example.org') }), verdict: foreign('www.old.example.org', 'tenant-moved') },
  { name: 'a change to the host that it has now', attempt: change(ingresses, 'tenant-moved', 'kept', { spec: serving('www.new.example.org') }), verdict: 'allowed' },
  { name: 'finalizers off where the host was once its own', attempt: change(ingresses, 'tenant-moved', 'kept', { metadata: { finalizers: null } }), verdict: 'allowed' },
  { name: 'labels where the host was once its own', attempt: change(ingresses, 'tenant-moved', 'kept', { metadata: { labels: { a: 'b' } } }), verdict: 'allowed' },
  { name: 'status where the host was once its own', attempt: change(ingresses, 'tenant-moved', 'kept/status', { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }), verdict: 'allowed' },
];

export const ingressAttack = create(ingresses, acme, serving('dashboard.example.org'));
/** Allowed only where the apex of the platform is known. */
export const externalHost = create(ingresses, acme, serving('www.customer.io'));
/** For a namespace whose host does not depend on the apex of the platform. */
export const claimFor = (host: string) => create(ingresses, 'tenant-customer', serving(host));
