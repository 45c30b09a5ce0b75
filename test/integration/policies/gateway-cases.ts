import { change, create, gateways, hosts, listenerSets, oldGateways, xListenerSets, type Case, type Verdict } from './cases.ts';

const acme = 'tenant-acme';
const listenerPolicy = 'cozystack-gateway-listener-policy';
const hostnamePolicy = 'cozystack-gateway-hostname-policy';

/** A listener for TLS; without hostname if that is undefined. */
const listener = (hostname: string | undefined, rest: object = {}): object => ({
  name: 'web', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'certificate' }] }, ...(hostname !== undefined && { hostname }), ...rest,
});
const selecting = (selector: object): object => ({ namespaces: { from: 'Selector', selector } });
const named = (operator: string, ...values: string[]): object => selecting({ matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values }] });
/** As the controller makes it, but for the namespaces. */
const plainHttp = (...namespaces: string[]): object => ({ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: named('In', ...namespaces) });
const tlsKinds = { kinds: [{ kind: 'TLSRoute' }] };
const gateway = (...listeners: object[]): object => ({ gatewayClassName: 'cilium', listeners });
const many = (count: number): object[] => Array.from({ length: count }, (_, index) => listener(`host-${index}.acme.example.org`, { name: `web-${index}` }));
const listenerSet = (...listeners: object[]): object => ({ parentRef: { name: 'cozystack' }, listeners });

const foreign = (hostname: string, namespace: keyof typeof hosts = acme): Verdict => {
  const host = hosts[namespace]?.toLowerCase();
  return { policy: hostnamePolicy, says: `hostname ${hostname} must equal ${host} or lie below it: that is the host of namespace ${namespace}` };
};
const hostless = (namespace: string): Verdict => ({
  policy: hostnamePolicy, says: `namespace ${namespace} has no host (label namespace.cozystack.io/host), so that nothing may listen in it; set spec.host of its Tenant`,
});
const nameless = (name: string): Verdict => ({
  policy: hostnamePolicy,
  says: `listener ${name} must have a hostname; only HTTP on port 80 of a Gateway needs none, if it selects by kubernetes.io/metadata.name among ${acme} and cozy-cert-manager`,
});
const open: Verdict = {
  policy: listenerPolicy,
  says: `listener web must admit routes of its own namespace, or select namespaces by kubernetes.io/metadata.name, attach.gateway.cozystack.io/${acme} or namespace.cozystack.io/gateway=${acme}`,
};
const raw: Verdict = { policy: listenerPolicy, says: 'listener web must admit HTTPRoute, GRPCRoute or TLSRoute alone (allowedRoutes.kinds): other routes have no hostnames to judge' };
const lender: Verdict = { policy: listenerPolicy, says: 'spec.allowedListeners must not admit listeners of other namespaces' };

const withHostname = (name: string, hostname: string, verdict: Verdict, namespace: string = acme): Case => ({ name, attempt: create(gateways, namespace, gateway(listener(hostname))), verdict });

/** Layer 2. */
export const gatewayHostnameCases: Case[] = [
  withHostname("the namespace's host", 'acme.example.org', 'allowed'),
  withHostname('a host below it', 'www.acme.example.org', 'allowed'),
  withHostname('a host far below it', 'a.b.c.acme.example.org', 'allowed'),
  withHostname('a wildcard below it', '*.acme.example.org', 'allowed'),
  withHostname('a wildcard far below it', '*.dev.acme.example.org', 'allowed'),
  withHostname("the platform's own name", 'dashboard.example.org', foreign('dashboard.example.org')),
  withHostname('the apex above', 'example.org', foreign('example.org')),
  withHostname('a wildcard of the apex above', '*.example.org', foreign('*.example.org')),
  withHostname('a name that ends alike', 'evilacme.example.org', foreign('evilacme.example.org')),
  withHostname('a name outside of the platform', 'www.example.com', foreign('www.example.com')),
  withHostname('the own host in mixed case', 'WWW.acme.example.org', { code: 422, says: 'spec.listeners[0].hostname in body should match' }),
  withHostname('the own host with a trailing dot', 'www.acme.example.org.', { code: 422, says: 'spec.listeners[0].hostname in body should match' }),
  withHostname('a wildcard of everything', '*', { code: 422, says: 'spec.listeners[0].hostname in body should match' }),
  withHostname('the own host where the label is in mixed case', 'www.mixed.example.org', 'allowed', 'tenant-mixed'),
  withHostname('a foreign host where the label is in mixed case', 'dashboard.example.org', foreign('dashboard.example.org', 'tenant-mixed'), 'tenant-mixed'),
  withHostname('a name that ends alike where the label is in mixed case', 'evilmixed.example.org', foreign('evilmixed.example.org', 'tenant-mixed'), 'tenant-mixed'),
  withHostname('a host of its own outside of the apex', 'shop.customer1.io', 'allowed', 'tenant-customer'),
  withHostname('a host of the apex, where the own is outside', 'shop.example.org', foreign('shop.example.org', 'tenant-customer'), 'tenant-customer'),
  withHostname('the host of a tenant below that is not below its own', 'www.shop.test', foreign('www.shop.test')),
  withHostname('any host where the label is missing', 'www.acme.example.org', hostless('tenant-bare'), 'tenant-bare'),
  withHostname('any host where the label is empty', 'www.acme.example.org', hostless('tenant-empty'), 'tenant-empty'),
  withHostname('any host of the platform', 'dashboard.example.org', 'allowed', 'cozy-harbor'),
  withHostname('any host where no tenant is', 'dashboard.example.org', 'allowed', 'plain'),
  { name: 'plain HTTP alone where the label is missing', attempt: create(gateways, 'tenant-bare', gateway(plainHttp('tenant-bare'))), verdict: hostless('tenant-bare') },
  { name: 'a foreign host behind an own one', attempt: create(gateways, acme, gateway(listener('www.acme.example.org'), listener('dashboard.example.org', { name: 'other' }))), verdict: foreign('dashboard.example.org') },
  { name: 'a foreign host at v1beta1', attempt: create(oldGateways, acme, gateway(listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },
  { name: 'a foreign host, by the server itself', as: 'the server', attempt: create(gateways, acme, gateway(listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },
  { name: 'a foreign host, by Flux', as: 'a ServiceAccount of cozy-fluxcd', attempt: create(gateways, acme, gateway(listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },
  { name: 'as many listeners as there may be', attempt: create(gateways, acme, gateway(plainHttp(acme), ...many(63))), verdict: 'allowed' },
  { name: 'the last of many foreign', attempt: create(gateways, acme, gateway(...many(63), listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },

  { name: 'plain HTTP as the controller makes it', attempt: create(gateways, acme, gateway(plainHttp(acme, 'cozy-cert-manager'))), verdict: 'allowed' },
  { name: 'plain HTTP for its own namespace', attempt: create(gateways, acme, gateway(plainHttp(acme))), verdict: 'allowed' },
  { name: 'plain HTTP for another namespace', attempt: create(gateways, acme, gateway(plainHttp(acme, 'tenant-other'))), verdict: nameless('http') },
  { name: 'plain HTTP for whoever attaches', attempt: create(gateways, acme, gateway({ ...plainHttp(), allowedRoutes: selecting({ matchLabels: { 'namespace.cozystack.io/gateway': acme } }) })), verdict: nameless('http') },
  { name: 'plain HTTP on another port', attempt: create(gateways, acme, gateway({ ...plainHttp(acme), port: 8080 })), verdict: nameless('http') },
  { name: 'TLS without hostname', attempt: create(gateways, acme, gateway(listener(undefined))), verdict: nameless('web') },
  { name: 'TLS without hostname on port 80', attempt: create(gateways, acme, gateway(listener(undefined, { port: 80, allowedRoutes: named('In', acme) }))), verdict: nameless('web') },
  { name: 'TCP', attempt: create(gateways, acme, gateway({ name: 'web', port: 5432, protocol: 'TCP', allowedRoutes: tlsKinds })), verdict: nameless('web') },
  { name: 'UDP', attempt: create(gateways, acme, gateway({ name: 'web', port: 53, protocol: 'UDP', allowedRoutes: tlsKinds })), verdict: nameless('web') },

  { name: 'a foreign host in a ListenerSet', attempt: create(listenerSets, acme, listenerSet(listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },
  { name: 'an own host in a ListenerSet', attempt: create(listenerSets, acme, listenerSet(listener('www.acme.example.org'))), verdict: 'allowed' },
  { name: 'no hostname in a ListenerSet', attempt: create(listenerSets, acme, listenerSet(listener(undefined))), verdict: nameless('web') },
  { name: 'plain HTTP in a ListenerSet', attempt: create(listenerSets, acme, listenerSet(plainHttp(acme))), verdict: nameless('http') },
  { name: 'a ListenerSet where the label is missing', attempt: create(listenerSets, 'tenant-bare', listenerSet(listener('www.acme.example.org'))), verdict: hostless('tenant-bare') },
  { name: "a ListenerSet of the platform's", attempt: create(listenerSets, 'cozy-harbor', listenerSet(listener('dashboard.example.org'))), verdict: 'allowed' },
  { name: 'a foreign host in an XListenerSet', attempt: create(xListenerSets, acme, listenerSet(listener('dashboard.example.org'))), verdict: foreign('dashboard.example.org') },
  { name: 'an own host in an XListenerSet', attempt: create(xListenerSets, acme, listenerSet(listener('www.acme.example.org'))), verdict: 'allowed' },

  { name: 'a change to a foreign host', attempt: change(gateways, 'tenant-moved', 'kept', { spec: gateway(listener('dashboard.example.org')) }), verdict: foreign('dashboard.example.org', 'tenant-moved') },
  { name: 'a change that keeps the host that was once its own', attempt: change(gateways, 'tenant-moved', 'kept', { spec: { gatewayClassName: 'other' } }), verdict: foreign('www.old.example.org', 'tenant-moved') },
  { name: 'a change to the host that it has now', attempt: change(gateways, 'tenant-moved', 'kept', { spec: gateway(listener('www.new.example.org')) }), verdict: 'allowed' },
  { name: 'finalizers off where the host was once its own', attempt: change(gateways, 'tenant-moved', 'kept', { metadata: { finalizers: null } }), verdict: 'allowed' },
  { name: 'finalizers off a ListenerSet where the host was once its own', attempt: change(listenerSets, 'tenant-moved', 'kept', { metadata: { finalizers: null } }), verdict: 'allowed' },
  { name: 'status where the host was once its own', attempt: change(gateways, 'tenant-moved', 'kept/status', { status: { addresses: [] } }), verdict: 'allowed' },
];

const admitting = (name: string, allowedRoutes: object, verdict: Verdict): Case => ({ name, attempt: create(gateways, acme, gateway(listener('www.acme.example.org', { allowedRoutes }))), verdict });

/** Layer 1. */
export const gatewayListenerCases: Case[] = [
  admitting('what the controller admits', { ...selecting({ matchLabels: { 'namespace.cozystack.io/gateway': acme } }), kinds: [{ kind: 'HTTPRoute' }, { kind: 'TLSRoute' }] }, 'allowed'),
  admitting('its own namespace', { namespaces: { from: 'Same' } }, 'allowed'),
  admitting('every namespace', { namespaces: { from: 'All' } }, open),
  admitting('every namespace, by an empty selector', selecting({}), open),
  admitting('namespaces by a label that anybody may set', selecting({ matchLabels: { team: 'web' } }), open),
  admitting('namespaces of another gateway', selecting({ matchLabels: { 'namespace.cozystack.io/gateway': 'tenant-root' } }), open),
  admitting('namespaces of no gateway', selecting({ matchLabels: { 'namespace.cozystack.io/gateway': '' } }), open),
  admitting('namespaces of any gateway', selecting({ matchExpressions: [{ key: 'namespace.cozystack.io/gateway', operator: 'Exists' }] }), open),
  admitting('namespaces by the label of this gateway', selecting({ matchLabels: { [`attach.gateway.cozystack.io/${acme}`]: '' } }), 'allowed'),
  admitting('namespaces that have the label of this gateway', selecting({ matchExpressions: [{ key: `attach.gateway.cozystack.io/${acme}`, operator: 'Exists' }] }), 'allowed'),
  admitting('namespaces that have the label of another gateway', selecting({ matchExpressions: [{ key: 'attach.gateway.cozystack.io/tenant-root', operator: 'Exists' }] }), open),
  admitting('namespaces that lack the label of this gateway', selecting({ matchExpressions: [{ key: `attach.gateway.cozystack.io/${acme}`, operator: 'DoesNotExist' }] }), open),
  admitting('namespaces by name', named('In', 'cozy-harbor', acme), 'allowed'),
  admitting('a namespace by name', selecting({ matchLabels: { 'kubernetes.io/metadata.name': 'cozy-harbor' } }), 'allowed'),
  admitting('all namespaces but one', named('NotIn', 'tenant-other'), open),
  admitting('GRPCRoutes', { kinds: [{ kind: 'GRPCRoute' }] }, 'allowed'),
  admitting('TCPRoutes', { kinds: [{ kind: 'HTTPRoute' }, { kind: 'TCPRoute' }] }, raw),
  admitting('UDPRoutes', { kinds: [{ kind: 'UDPRoute' }] }, raw),
  admitting('what the protocol admits, for HTTPS', {}, 'allowed'),
  { name: 'what the protocol admits, for TLS', attempt: create(gateways, acme, gateway(listener('www.acme.example.org', { protocol: 'TLS', tls: { mode: 'Passthrough' } }))), verdict: raw },
  { name: 'TLSRoutes, for TLS', attempt: create(gateways, acme, gateway(listener('www.acme.example.org', { protocol: 'TLS', tls: { mode: 'Passthrough' }, allowedRoutes: tlsKinds }))), verdict: 'allowed' },
  { name: 'every namespace, of the platform', attempt: create(gateways, 'cozy-harbor', gateway(listener('dashboard.example.org', { allowedRoutes: { namespaces: { from: 'All' } } }))), verdict: 'allowed' },
  { name: 'every namespace, by the server itself', as: 'the server', attempt: create(gateways, acme, gateway(listener('www.acme.example.org', { allowedRoutes: { namespaces: { from: 'All' } } }))), verdict: open },
  { name: 'every namespace, in a ListenerSet', attempt: create(listenerSets, acme, listenerSet(listener('www.acme.example.org', { allowedRoutes: { namespaces: { from: 'All' } } }))), verdict: open },
  ...(['All', 'Selector'] as const).map((from): Case => ({
    name: `listeners of other namespaces (${from})`, attempt: create(gateways, acme, { ...gateway(listener('www.acme.example.org')), allowedListeners: { namespaces: { from, selector: {} } } }), verdict: lender,
  })),
  { name: 'listeners of its own namespace', attempt: create(gateways, acme, { ...gateway(listener('www.acme.example.org')), allowedListeners: { namespaces: { from: 'Same' } } }), verdict: 'allowed' },
  {
    name: "listeners for another namespace's Gateway",
    attempt: create(listenerSets, acme, { ...listenerSet(listener('www.acme.example.org')), parentRef: { name: 'cozystack', namespace: 'tenant-root' } }),
    verdict: { policy: listenerPolicy, says: `spec.parentRef must name a Gateway in namespace ${acme}` },
  },
  { name: 'a change that admits every namespace', attempt: change(gateways, 'tenant-moved', 'kept', { spec: gateway(listener('www.new.example.org', { allowedRoutes: { namespaces: { from: 'All' } } })) }), verdict: {
    policy: listenerPolicy, says: open.says.replaceAll(acme, 'tenant-moved'),
  } },
];

/** What each layer is there for. */
export const gatewayAttacks = {
  listener: create(gateways, acme, gateway(listener('www.acme.example.org', { allowedRoutes: { namespaces: { from: 'All' } } }))),
  hostname: create(gateways, acme, gateway(listener('dashboard.example.org'))),
};
