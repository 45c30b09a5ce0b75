import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { attachedTo } from './attached.ts';
import { gatewayOf, resolveClaims } from './claims.ts';
import { exampleGateway, exampleModes, exampleNamespace, exampleNamespaces, exampleRoute, exampleSolver } from './example.ts';
import { groundOf } from './ground.ts';
import { hostCertificate, hostListener } from './names.ts';
import type { Route } from './types.ts';

const strangers = [exampleNamespace('tenant-other', 'other.example.org'), exampleNamespace('cozy-stray'), exampleNamespace('tenant-acmeevil', 'x.acme.example.org')];
const resolve = (routes: Route[], gateway = exampleGateway()) => {
  const attached = attachedTo(gateway, [...exampleNamespaces, ...strangers]);
  return resolveClaims(gateway, routes, attached, groundOf(gateway, attached));
};

describe('claims of hosts', () => {
  for (const { name, route, spec = {}, served = [], says = [] } of [
    { name: 'the apex and what lies below it are had', route: exampleRoute('tenant-acme', 'a', ['acme.example.org', 'www.acme.example.org']), served: ['acme.example.org', 'www.acme.example.org'] },
    { name: 'case and a trailing dot do not matter', route: exampleRoute('tenant-acme', 'a', ['WWW.acme.example.org.', 'www.acme.example.org']), served: ['www.acme.example.org'] },
    { name: 'one bad host does not take the others with it', route: exampleRoute('tenant-acme', 'a', ['evil.test', 'www.acme.example.org']), served: ['www.acme.example.org'], says: ['HostnameNotAllowed'] },
    { name: 'a suffix is no subdomain', route: exampleRoute('tenant-acme', 'a', ['evilacme.example.org']), says: ['HostnameNotAllowed'] },
    { name: 'no DNS name is none', route: exampleRoute('tenant-acme', 'a', ['-x.acme.example.org']), says: ['HostnameNotAllowed'] },
    { name: 'a wildcard has no certificate by HTTP-01', route: exampleRoute('tenant-acme', 'a', ['*.acme.example.org']), says: ['HostnameNotAllowed'] },
    { name: "a wildcard of one's own apex is had where there is a certificate for it", route: exampleRoute('tenant-acme', 'a', ['*.acme.example.org']), spec: exampleModes.dns01, served: ['*.acme.example.org'] },
    { name: "a wildcard of a child's apex is the child's", route: exampleRoute('tenant-acme-dev', 'a', ['*.dev.acme.example.org', '*.acme.example.org']), spec: exampleModes.dns01, served: ['*.dev.acme.example.org'], says: ['HostnameNotAllowed'] },
    { name: "and not its parent's", route: exampleRoute('tenant-acme', 'a', ['*.dev.acme.example.org']), spec: exampleModes.dns01, says: ['HostnameNotAllowed'] },
    { name: 'a wildcard certificate covers one label', route: exampleRoute('tenant-acme', 'a', ['a.b.acme.example.org', 'b.acme.example.org']), spec: exampleModes.existingSecret, served: ['b.acme.example.org'], says: ['HostnameNotAllowed'] },
    { name: 'a route without hosts claims nothing', route: exampleRoute('tenant-acme', 'a', undefined), says: ['HostnameRequired'] },
    { name: 'nor does one with an empty list', route: exampleRoute('tenant-acme', 'a', []), says: ['HostnameRequired'] },
    { name: 'a child that inherits has what is below its own host', route: exampleRoute('tenant-acme-dev', 'a', ['app.dev.acme.example.org']), served: ['app.dev.acme.example.org'] },
    { name: "but nothing of its parent's", route: exampleRoute('tenant-acme-dev', 'a', ['www.acme.example.org']), says: ['HostnameNotAllowed'] },
    { name: 'a child with another domain has nothing here', route: exampleRoute('tenant-acme-shop', 'a', ['www.shop.test', 'www.acme.example.org']), says: ['HostnameNotAllowed', 'HostnameNotAllowed'] },
    { name: "the platform's namespaces have what is below the gateway's apex", route: exampleRoute('cozy-dashboard', 'a', ['dashboard.acme.example.org', 'x.test']), served: ['dashboard.acme.example.org'], says: ['HostnameNotAllowed'] },
    { name: "a tenant's namespace without a host has nothing", route: exampleRoute('tenant-acme-broken', 'a', ['www.acme.example.org']), says: ['HostnameNotAllowed'] },
    { name: 'a namespace with the key that is no tenant below has nothing', route: exampleRoute('tenant-other', 'a', ['www.acme.example.org']), says: ['NotAllowedByListeners'] },
    { name: 'a name that begins like the owner is none below it', route: exampleRoute('tenant-acmeevil', 'a', ['x.acme.example.org']), says: ['NotAllowedByListeners'] },
    { name: 'nor has one with the key that nobody lists', route: exampleRoute('cozy-stray', 'a', ['www.acme.example.org']), says: ['NotAllowedByListeners'] },
    { name: 'an unknown namespace has nothing', route: exampleRoute('nowhere', 'a', ['www.acme.example.org']), says: ['NotAllowedByListeners'] },
    { name: "cert-manager's challenges are no claims, and nobody is told", route: exampleSolver('www.acme.example.org') },
    { name: "the label of challenges makes no other route one", route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { labels: { 'acme.cert-manager.io/http01-solver': 'true' } }), served: ['www.acme.example.org'] },
    { name: 'listener http is not for applications', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { sectionName: 'http' } }), says: ['NotAllowedByListeners'] },
    { name: 'nor is port 80', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { port: 80 } }), says: ['NotAllowedByListeners'] },
    { name: 'another port is none', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { port: 8443 } }), says: ['NoMatchingParent'] },
    { name: 'port 443 is', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { port: 443 } }), served: ['www.acme.example.org'] },
    { name: "the host's own listener may be named", route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { sectionName: hostListener('www.acme.example.org') } }), served: ['www.acme.example.org'] },
    { name: 'that of the other modes is not there', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { sectionName: 'https' } }), says: ['NoMatchingParent'] },
    { name: 'a GRPCRoute is not taken', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { kind: 'GRPCRoute' }), says: ['NotAllowedByListeners'] },
    { name: 'a TLSRoute has what is passed through', route: exampleRoute('default', 'a', ['api.acme.example.org'], { kind: 'TLSRoute', parentRef: { sectionName: 'tls-api' } }), spec: { tlsPassthroughServices: ['api'] }, served: ['api.acme.example.org'] },
    { name: 'and nothing else', route: exampleRoute('default', 'a', ['www.acme.example.org'], { kind: 'TLSRoute' }), spec: { tlsPassthroughServices: ['api'] }, says: ['HostnameNotAllowed'] },
    { name: 'no HTTPRoute has what is passed through', route: exampleRoute('tenant-acme', 'a', ['api.acme.example.org']), spec: { tlsPassthroughServices: ['api'] }, says: ['HostnameNotAllowed'] },
    { name: 'a route to a ListenerSet of the gateway is one to it', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { kind: 'ListenerSet', name: 'cozystack-1' } }), served: ['www.acme.example.org'] },
    { name: 'a route to another gateway is no concern', route: exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { name: 'other' } }) },
  ] as { name: string; route: Route; spec?: object; served?: string[]; says?: string[] }[]) {
    it(name, () => {
      const { byHost, attachments } = resolve([route], exampleGateway(spec));
      assert.deepEqual([...byHost.keys()].toSorted(), served);
      assert.deepEqual(attachments.flatMap(({ faults }) => faults.map(({ reason }) => reason)), says);
    });
  }

  for (const { name, parentRef, means } of [
    { name: 'group and kind default to a Gateway', parentRef: { name: 'g' }, means: 'ns/g' },
    { name: 'another namespace counts', parentRef: { name: 'g', namespace: 'other' }, means: 'other/g' },
    { name: 'a ListenerSet means its Gateway', parentRef: { name: 'g-12', kind: 'ListenerSet' }, means: 'ns/g' },
    { name: "a ListenerSet of somebody's does not", parentRef: { name: 'theirs', kind: 'ListenerSet' }, means: undefined },
    { name: 'a Service is no Gateway', parentRef: { name: 'g', group: '', kind: 'Service' }, means: undefined },
    { name: 'a kind of another group is none', parentRef: { name: 'g', group: 'x.test' }, means: undefined },
  ]) it(`parentRef: ${name}`, () => assert.equal(gatewayOf(parentRef, 'ns'), means));

  it("are heard from the gateway's own namespace before its label is there", () => {
    const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-acme', labels: { 'kubernetes.io/metadata.name': 'tenant-acme' } } };
    const attached = attachedTo(exampleGateway(), [own]);
    const { attachments } = resolveClaims(exampleGateway(), [exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], attached, groundOf(exampleGateway(), attached));
    assert.deepEqual(attachments.flatMap(({ faults }) => faults), []);
  });

  it('give a contested host to cozy-*, then to the first namespace', () => {
    const [dashboard, plain, mine] = ['cozy-dashboard', 'default', 'tenant-acme'].map((namespace) => exampleRoute(namespace, 'a', ['x.acme.example.org']));
    const winner = (...routes: Route[]): string | undefined => resolve(routes).byHost.get('x.acme.example.org')?.namespace;
    assert.equal(winner(mine!, plain!, dashboard!), 'cozy-dashboard');
    assert.equal(winner(mine!, plain!), 'default');
    assert.equal(winner(mine!), 'tenant-acme');
    assert.deepEqual(resolve([mine!, dashboard!]).byHost.get('x.acme.example.org')?.rivals, new Set(['tenant-acme']));
  });

  it('let routes of one namespace share a host', () => {
    const { byHost } = resolve([exampleRoute('tenant-acme', 'a', ['x.acme.example.org']), exampleRoute('tenant-acme', 'b', ['x.acme.example.org'])]);
    const { rivals, routes } = byHost.get('x.acme.example.org')!;
    assert.deepEqual([rivals.size, routes.length], [0, 2]);
  });

  it('do not depend on the order of routes, not even of two kinds and one name', () => {
    const anyRoute = fc.record({
      namespace: fc.constantFrom('tenant-acme', 'tenant-acme-dev', 'cozy-dashboard', 'default'),
      hosts: fc.uniqueArray(fc.constantFrom('a.dev.acme.example.org', 'dev.acme.example.org', 'b.acme.example.org', 'api.acme.example.org'), { maxLength: 3 }),
      name: fc.constantFrom('a', 'b'),
      kind: fc.constantFrom('HTTPRoute', 'TLSRoute', 'GRPCRoute'),
    });
    const routesOf = fc.uniqueArray(anyRoute, { maxLength: 8, selector: ({ namespace, name, kind }) => `${namespace}/${name}/${kind}` });
    fc.assert(
      fc.property(routesOf, fc.nat(), (specs, turn) => {
        const routes = specs.map(({ namespace, hosts, name, kind }) => exampleRoute(namespace, name, hosts, { kind }));
        const turned = routes.map((_, index) => routes[(index + turn) % routes.length]!);
        const gateway = exampleGateway({ tlsPassthroughServices: ['api'] });
        assert.deepEqual(resolve(turned, gateway), resolve(routes, gateway));
      }),
    );
  });
});

describe('names of listeners and Certificates', () => {
  it('hold the first label and eight digits of the hash', () => {
    assert.equal(hostListener('Harbor.example.org'), hostListener('harbor.example.org'));
    assert.match(hostListener('harbor.example.org'), /^https-harbor-[0-9a-f]{8}$/);
    assert.match(hostCertificate('cozystack', 'harbor.example.org'), /^cozystack-harbor-[0-9a-f]{8}-tls$/);
  });
  it('fit into a label value, and stay apart', () => {
    const [one, other] = ['org', 'com'].map((end) => hostCertificate('cozystack', `${'a'.repeat(63)}.example.${end}`));
    assert.equal(one!.length, 63);
    assert.notEqual(one, other);
  });
});
