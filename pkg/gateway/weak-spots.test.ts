import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { attachmentOf, listedBy } from './attach.ts';
import { dataPlane, type DataPlane } from './data-plane-model.ts';
import { applied, exampleGateway, exampleModes, exampleNamespaces, exampleRoute, exampleSolver, liveAfter, observedOf } from './example.ts';
import { hostListener } from './names.ts';
import { plan } from './plan.ts';
import { routeUpdates } from './route-status.ts';
import type { Certificate, Gateway, Route } from './types.ts';

/** What somebody would have seen of Cozystack's gateways; the controller's own tests have what takes time. */

const serving = (routes: Route[], gateway = exampleGateway(), namespaces = exampleNamespaces): DataPlane => dataPlane(liveAfter(plan(observedOf(routes, gateway, { attached: namespaces }))), routes, namespaces);
const answers = (plane: DataPlane, host: string): string[] => plane.answering(host, 443).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const said = (routes: Route[], route: Route, gateway = exampleGateway()): string | undefined =>
  routeUpdates('tenant-acme/cozystack', routes, plan(observedOf(routes, gateway)), 0).find((update) => update.route === route)?.parents[0]?.conditions?.[0]?.reason;
const hostsOf = (routes: Route[], gateway = exampleGateway()): (string | undefined)[] => applied<Gateway>(plan(observedOf(routes, gateway)), 'gateway')[0]!.spec!.listeners.map(({ hostname }) => hostname);
const modes = Object.entries(exampleModes);

describe('what users of gateways would have seen', () => {
  it('the dashboard is served by root and by acme, though both list its namespace', () => {
    const bare: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cozy-dashboard', labels: { 'kubernetes.io/metadata.name': 'cozy-dashboard' } } };
    const dashboard: KubeObject = { ...bare, metadata: { ...bare.metadata, labels: { ...bare.metadata.labels, ...attachmentOf(bare, ['tenant-root', 'tenant-acme'])!.metadata.labels } } };
    for (const [owner, apex] of [['tenant-acme', 'acme.example.org'], ['tenant-root', 'example.org']] as const) {
      const route = exampleRoute('cozy-dashboard', 'dashboard', [`dashboard.${apex}`], { parentRef: { namespace: owner } });
      assert.deepEqual(answers(serving([route], exampleGateway({ apex }, { namespace: owner }), [dashboard]), `dashboard.${apex}`), ['cozy-dashboard/dashboard']);
    }
  });

  it('one app asks for a host of another domain, and all others are still published', () => {
    const good = exampleRoute('tenant-acme', 'good', ['www.acme.example.org']);
    const bad = [exampleRoute('cozy-dashboard', 'bad', ['dashboard.other.test']), exampleRoute('tenant-acme-shop', 'bad', ['www.shop.test']), exampleRoute('default', 'bad', ['UPPER_CASE.acme.example.org'])];
    for (const [, spec] of modes) {
      assert.ok(hostsOf([good, ...bad], exampleGateway(spec)).every((host) => host === undefined || host.endsWith('acme.example.org')));
      for (const route of bad) assert.equal(said([good, ...bad], route, exampleGateway(spec)), 'HostnameNotAllowed');
    }
    assert.deepEqual(answers(serving([good, ...bad]), 'www.acme.example.org'), ['tenant-acme/good']);
  });

  for (const [mode, spec] of modes) {
    const gateway = exampleGateway(spec);

    it(`an app without hostnames answers for nobody else's host, in mode ${mode}`, () => {
      const open = exampleRoute('cozy-dashboard', 'open', undefined);
      const routes = [open, exampleRoute('default', 'app', ['app.acme.example.org']), exampleRoute('tenant-acme', 'www', ['www.acme.example.org'])];
      for (const host of ['app.acme.example.org', 'www.acme.example.org', 'typo.acme.example.org', 'acme.example.org', 'x.dev.acme.example.org'])
        assert.ok(!answers(serving(routes, gateway), host).includes('cozy-dashboard/open'), host);
      assert.equal(said(routes, open, gateway), 'HostnameRequired');
    });

    it(`two apps want one host, and only one of them gets requests, in mode ${mode}`, () => {
      const [mine, theirs] = [exampleRoute('tenant-acme', 'fake', ['dashboard.acme.example.org']), exampleRoute('cozy-dashboard', 'dashboard', ['dashboard.acme.example.org'])];
      const certificates = applied<Certificate>(plan(observedOf([mine, theirs], gateway)), 'certificate');
      const plane = dataPlane(liveAfter(plan(observedOf([mine, theirs], gateway))), [mine, theirs], exampleNamespaces, { wild: ['acme.example.org', '*.acme.example.org'] });
      assert.deepEqual(answers(plane, 'dashboard.acme.example.org'), ['cozy-dashboard/dashboard']);
      assert.deepEqual([said([mine, theirs], mine, gateway), certificates.length], ['HostnameConflict', mode === 'existingSecret' ? 0 : 1]);
    });

    it(`the API server is passed through, and nothing terminates its host, whatever asks for it, in mode ${mode}`, () => {
      const routes = [exampleRoute('default', 'api', ['api.acme.example.org'], { kind: 'TLSRoute', parentRef: { sectionName: 'tls-api' } }), exampleRoute('tenant-acme', 'mine', ['api.acme.example.org']), exampleRoute('cozy-dashboard', 'theirs', ['api.acme.example.org'], { kind: 'TLSRoute' })];
      const { actions } = plan(observedOf(routes, exampleGateway({ ...spec, tlsPassthroughServices: ['api'] })));
      const listeners = actions.flatMap((action) => (action.do === 'apply' && action.what === 'gateway' ? (action.desired as Gateway).spec!.listeners : [])).filter(({ hostname }) => hostname === 'api.acme.example.org');
      assert.deepEqual(listeners.map(({ name, protocol }) => [name, protocol]), [['tls-api', 'TLS']]);
      assert.ok(!actions.some((action) => action.do === 'apply' && action.what === 'certificate' && JSON.stringify(action.desired).includes('api.acme.example.org')));
    });
  }

  it('somebody publishes a wildcard by HTTP-01, and the Gateway is still accepted', () => {
    const routes = [exampleRoute('tenant-acme', 'all', ['*.acme.example.org']), exampleRoute('tenant-acme', 'www', ['www.acme.example.org'])];
    assert.deepEqual(hostsOf(routes), [undefined, 'www.acme.example.org']);
    assert.equal(said(routes, routes[0]!), 'HostnameNotAllowed');
  });

  it('a challenge takes no host from anybody, and keeps none when its app is gone', () => {
    const app = exampleRoute('tenant-acme-dev', 'app', ['app.dev.acme.example.org']);
    const solver = exampleSolver('app.dev.acme.example.org');
    assert.equal(said([app, solver], app), 'Accepted');
    assert.deepEqual(answers(serving([app, solver]), 'app.dev.acme.example.org'), ['tenant-acme-dev/app']);
    assert.deepEqual(hostsOf([solver]), [undefined]);
  });

  it('a namespace of a tenant was listed once, and keeps the labels of its tenant', () => {
    const listed = exampleGateway({ attachedNamespaces: ['tenant-acme-dev'] });
    assert.deepEqual(listedBy(listed), []);
    const own = { 'attach.gateway.cozystack.io/tenant-acme': '', 'namespace.cozystack.io/gateway': 'tenant-acme' };
    assert.equal(attachmentOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-acme-dev', labels: own } }, []), undefined);
  });

  it('after a change of the mode no route says what was true before', () => {
    const [mine, theirs] = [exampleRoute('tenant-acme', 'mine', ['a.b.acme.example.org']), exampleRoute('cozy-dashboard', 'theirs', ['x.acme.example.org'])];
    for (const [before, after] of [['http01', 'dns01'], ['dns01', 'existingSecret'], ['existingSecret', 'http01']] as const) {
      const told = routeUpdates('tenant-acme/cozystack', [mine, theirs], plan(observedOf([mine, theirs], exampleGateway(exampleModes[before]))), 0).map(({ route, parents }): Route => ({ ...route, status: { parents } }));
      const again = routeUpdates('tenant-acme/cozystack', told, plan(observedOf(told, exampleGateway(exampleModes[after]))), 0);
      const now = told.map((route) => again.find((update) => update.route === route)?.parents ?? route.status!.parents!);
      assert.deepEqual(now.map((parents) => parents[0]!.conditions![0]!.reason), [after === 'http01' ? 'Accepted' : 'HostnameNotAllowed', 'Accepted']);
    }
  });

  it('a tenant below brings a domain of its own, and the certificate of everybody else is still issued', () => {
    const names = applied<Certificate>(plan(observedOf([], exampleGateway(exampleModes.dns01))), 'certificate').flatMap(({ spec }) => spec!.dnsNames!);
    assert.deepEqual(names, ['acme.example.org', '*.acme.example.org', 'dev.acme.example.org', '*.dev.acme.example.org']);
  });

  it('the bare host of a tenant below is served, too', () => {
    const route = exampleRoute('tenant-acme-dev', 'home', ['dev.acme.example.org']);
    assert.deepEqual(answers(serving([route], exampleGateway(exampleModes.dns01)), 'dev.acme.example.org'), ['tenant-acme-dev/home']);
  });

  it('the seventieth app leaves those before it published, and is told that there is no room', () => {
    const routes = Array.from({ length: 70 }, (_, index) => exampleRoute('tenant-acme', `app${index}`, [`app${index}.acme.example.org`], { createdAt: `2026-11-30T12:${String(index % 60).padStart(2, '0')}:${index < 60 ? '00' : '30'}Z` }));
    const plane = serving(routes);
    const served = routes.filter(({ metadata }) => answers(plane, `${metadata.name}.acme.example.org`).length > 0);
    assert.equal(served.length, 63);
    for (const route of routes) assert.equal(said(routes, route), served.includes(route) ? 'Accepted' : 'ListenerLimitReached');
  });

  it('two tenants find hosts whose listeners would have one name, and the Gateway is still accepted', () => {
    const [first, second] = ['a.rz7.acme.example.org', 'a.2ha5.acme.example.org'];
    assert.equal(hostListener(first!), hostListener(second!));
    const routes = [exampleRoute('tenant-acme', 'first', [first!], { createdAt: '2026-11-01T00:00:00Z' }), exampleRoute('cozy-dashboard', 'second', [second!])];
    const names = applied<Gateway>(plan(observedOf(routes)), 'gateway')[0]!.spec!.listeners.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual([said(routes, routes[0]!), said(routes, routes[1]!)], ['Accepted', 'ListenerLimitReached']);
  });
});
