import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { gatewayOf, resolveClaims } from './claims.ts';
import { exampleGateway, exampleNamespace, exampleNamespaces, exampleRoute } from './example.ts';
import { hostCertificate, hostListener } from './names.ts';
import type { HttpRoute } from './types.ts';

const known = new Map([...exampleNamespaces, exampleNamespace('tenant-other', 'other.example.org', 'tenant-other')].map((object) => [object.metadata.name!, object]));
const resolve = (routes: HttpRoute[], gateway = exampleGateway()) => resolveClaims(gateway, routes, (name) => known.get(name));

describe('claims of hosts', () => {
  for (const { name, routes, served, refused = 0 } of [
    { name: 'the apex and what lies below it', routes: [exampleRoute('tenant-acme', 'a', ['acme.example.org', 'www.acme.example.org'])], served: ['acme.example.org', 'www.acme.example.org'] },
    { name: 'case and a trailing dot do not matter', routes: [exampleRoute('tenant-acme', 'a', ['WWW.acme.example.org.', 'www.acme.example.org'])], served: ['www.acme.example.org'] },
    { name: 'one bad host does not take the others with it', routes: [exampleRoute('tenant-acme', 'a', ['evil.test', 'www.acme.example.org'])], served: ['www.acme.example.org'], refused: 1 },
    { name: 'a suffix is no subdomain', routes: [exampleRoute('tenant-acme', 'a', ['evilacme.example.org'])], served: [], refused: 1 },
    { name: 'a wildcard is explained, not served', routes: [exampleRoute('tenant-acme', 'a', ['*.acme.example.org'])], served: [], refused: 1 },
    { name: 'a route without hosts claims nothing', routes: [exampleRoute('tenant-acme', 'a', [])], served: [] },
    { name: 'a child that inherits serves below its own host', routes: [exampleRoute('tenant-acme-dev', 'a', ['app.dev.acme.example.org'])], served: ['app.dev.acme.example.org'] },
    { name: "but not its parent's", routes: [exampleRoute('tenant-acme-dev', 'a', ['www.acme.example.org'])], served: [], refused: 1 },
    { name: 'a child with an apex of its own serves it', routes: [exampleRoute('tenant-acme-shop', 'a', ['www.shop.test'])], served: ['www.shop.test'] },
    { name: "the platform's namespaces serve below the gateway's apex", routes: [exampleRoute('cozy-dashboard', 'a', ['dashboard.acme.example.org', 'x.test'])], served: ['dashboard.acme.example.org'], refused: 1 },
    { name: "a tenant's namespace without a host serves nothing", routes: [exampleRoute('tenant-broken', 'a', ['www.acme.example.org'])], served: [], refused: 1 },
    { name: 'a namespace of another gateway claims nothing', routes: [exampleRoute('tenant-other', 'a', ['www.acme.example.org'])], served: [] },
    { name: 'an unknown namespace claims nothing', routes: [exampleRoute('nowhere', 'a', ['www.acme.example.org'])], served: [] },
    { name: "cert-manager's solver routes claim nothing", routes: [exampleRoute('tenant-acme', 'cm', ['www.acme.example.org'], { labels: { 'acme.cert-manager.io/http01-solver': 'true' } })], served: [] },
    { name: 'a route to the plain listener claims no certificate', routes: [exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { sectionName: 'http' } })], served: [] },
    { name: 'nor does one to port 80', routes: [exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { port: 80 } })], served: [] },
    { name: 'a route to another gateway is no concern', routes: [exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { name: 'other' } })], served: [] },
  ] as { name: string; routes: HttpRoute[]; served: string[]; refused?: number }[]) {
    it(name, () => {
      const { winners, attachments } = resolve(routes);
      assert.deepEqual([...winners.keys()].toSorted(), served);
      assert.equal(attachments.flatMap((attachment) => attachment.refused).length, refused);
    });
  }

  for (const { name, parentRef, means } of [
    { name: 'group and kind default to a Gateway', parentRef: { name: 'g' }, means: 'ns/g' },
    { name: 'another namespace counts', parentRef: { name: 'g', namespace: 'other' }, means: 'other/g' },
    { name: 'a Service is no Gateway', parentRef: { name: 'g', group: '', kind: 'Service' }, means: undefined },
    { name: 'a kind of another group is none', parentRef: { name: 'g', group: 'x.test' }, means: undefined },
  ]) it(`parentRef: ${name}`, () => assert.equal(gatewayOf(parentRef, 'ns'), means));

  it('gives a contested host to cozy-*, then to the first namespace, and tells the loser', () => {
    const dashboard = exampleRoute('cozy-dashboard', 'z', ['x.acme.example.org']);
    const mine = exampleRoute('tenant-acme', 'a', ['x.acme.example.org', 'y.acme.example.org']);
    const { winners, contested, attachments } = resolve([mine, dashboard]);
    assert.equal(winners.get('x.acme.example.org')?.route, dashboard);
    assert.deepEqual([...contested], ['x.acme.example.org']);
    assert.deepEqual(attachments.map(({ route, lost }) => [route.metadata.namespace, lost]), [['cozy-dashboard', []], ['tenant-acme', ['x.acme.example.org']]]);
  });

  it('lets routes of one namespace share a host', () => {
    const { contested, attachments } = resolve([exampleRoute('tenant-acme', 'a', ['x.acme.example.org']), exampleRoute('tenant-acme', 'b', ['x.acme.example.org'])]);
    assert.equal(contested.size, 0);
    assert.deepEqual(attachments.flatMap(({ lost }) => lost), []);
  });

  it('does not depend on the order of routes', () => {
    const anyRoute = fc.record({ namespace: fc.constantFrom('tenant-acme', 'tenant-acme-dev', 'cozy-dashboard'), hosts: fc.uniqueArray(fc.constantFrom('a.dev.acme.example.org', 'dev.acme.example.org', 'b.acme.example.org'), { maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(anyRoute, { maxLength: 6 }), fc.nat(), (specs, turn) => {
        const routes = specs.map(({ namespace, hosts }, index) => exampleRoute(namespace, `r${index}`, hosts));
        const turned = routes.map((_, index) => routes[(index + turn) % routes.length]!);
        assert.deepEqual(resolve(turned), resolve(routes));
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
