import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { exampleGateway, exampleRoute, observedOf } from './example.ts';
import { plan, type Action, type Observed } from './plan.ts';
import { certificates, gateways, httpRoutes, issuers, type Certificate, type Gateway, type Listener } from './types.ts';

const objects = (actions: readonly Action[], what: string): KubeObject[] => actions.flatMap((action) => (action.do === 'apply' && action.what === what ? [action.desired] : []));
const listenersIn = (observed: Observed): Listener[] => (objects(plan(observed).actions, 'gateway')[0] as Gateway).spec!.listeners;
const short = (action: Action): string => `${action.do} ${action.what} ${action.do === 'apply' ? action.desired.metadata.name : action.object.metadata.name}`;
const owned = (name: string, owner = 'tgw', kind = 'Certificate'): Certificate => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  metadata: { namespace: 'tenant-acme', name, uid: name, ownerReferences: [{ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', name: 'cozystack', uid: owner, controller: true }] },
});

describe('plan for a gateway', () => {
  it('makes a Gateway, an Issuer, a Certificate a host, and a redirect', () => {
    const { actions, certificates: names } = plan(observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])]));
    assert.deepEqual(names, ['cozystack-www-9e0b0ba7-tls']);
    assert.deepEqual(actions.map(short), ['apply gateway cozystack', 'apply issuer cozystack-gateway', `apply certificate ${names[0]}`, 'apply redirect cozystack-http-redirect']);
    const [gateway] = objects(actions, 'gateway');
    assert.deepEqual(gateway!.metadata, {
      name: 'cozystack',
      namespace: 'tenant-acme',
      labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'cozystack.io/managed-by': 'cozystack-controller', 'cozystack.io/gateway': 'tenant-acme' },
      ownerReferences: [{ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', name: 'cozystack', uid: 'tgw', controller: true, blockOwnerDeletion: true }],
    });
    const kinds = ['HTTPRoute', 'TLSRoute'].map((kind) => ({ group: 'gateway.networking.k8s.io', kind }));
    assert.deepEqual((gateway as Gateway).spec!.listeners, [
      {
        name: 'http',
        port: 80,
        protocol: 'HTTP',
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['tenant-acme', 'cozy-cert-manager'] }] } } },
      },
      {
        name: 'https-www-9e0b0ba7',
        port: 443,
        protocol: 'HTTPS',
        hostname: 'www.acme.example.org',
        tls: { mode: 'Terminate', certificateRefs: [{ name: names[0] }] },
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { 'attach.gateway.cozystack.io/tenant-acme': '' } } }, kinds },
      },
    ]);
    assert.deepEqual(objects(actions, 'certificate')[0]!.spec, { secretName: names[0], dnsNames: ['www.acme.example.org'], issuerRef: { kind: 'Issuer', name: 'cozystack-gateway' } });
    assert.deepEqual(objects(actions, 'issuer')[0]!.spec, {
      acme: {
        server: 'https://acme-v02.api.letsencrypt.org/directory',
        privateKeySecretRef: { name: 'cozystack-acme-account' },
        solvers: [{ http01: { gatewayHTTPRoute: { parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'cozystack', namespace: 'tenant-acme', sectionName: 'http' }] } } }],
      },
    });
    assert.deepEqual(objects(actions, 'redirect')[0]!.spec, {
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'cozystack', sectionName: 'http' }],
      rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }] }],
    });
  });

  it('pins the listener of a contested host to the namespace that holds it', () => {
    const [, listener] = listenersIn(observedOf([exampleRoute('cozy-dashboard', 'a', ['x.acme.example.org']), exampleRoute('tenant-acme', 'b', ['x.acme.example.org'])]));
    const { namespaces } = listener!.allowedRoutes as { namespaces: { selector: { matchLabels: object } } };
    assert.deepEqual(namespaces.selector.matchLabels, { 'attach.gateway.cozystack.io/tenant-acme': '', 'kubernetes.io/metadata.name': 'cozy-dashboard' });
  });

  for (const { name, observed, does } of [
    { name: 'a Certificate of ours that nobody wants goes', observed: observedOf([], exampleGateway(), { live: { ...observedOf().live, certificates: [owned('old')] } }), does: ['delete certificate old'] },
    { name: "another's Certificate stays", observed: observedOf([], exampleGateway(), { live: { ...observedOf().live, certificates: [owned('old', 'someone')] } }), does: [] },
    { name: 'an Issuer of ours goes in mode existingSecret', observed: observedOf([], exampleGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } }), { live: { ...observedOf().live, issuer: owned('cozystack-gateway', 'tgw', 'Issuer') } }), does: ['delete issuer cozystack-gateway'] },
    { name: "another's Issuer stays", observed: observedOf([], exampleGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } }), { live: { ...observedOf().live, issuer: owned('cozystack-gateway', 'someone', 'Issuer') } }), does: [] },
  ]) it(name, () => assert.deepEqual(plan(observed).actions.filter((action) => action.do === 'delete').map(short), does));

  for (const { name, gateway, fault } of [
    { name: 'an apex that is no name', gateway: exampleGateway({ apex: 'nö' }), fault: /^spec\.apex/ },
    { name: 'no Secret in mode existingSecret', gateway: exampleGateway({ certMode: 'existingSecret' }), fault: /^spec\.wildcardSecretRef/ },
    { name: 'no provider in mode dns01', gateway: exampleGateway({ certMode: 'dns01' }), fault: /spec\.dns01\.cloudflare/ },
  ])
    it(`changes nothing for ${name}`, () => {
      const { actions, fault: found } = plan(observedOf([], gateway, { live: { ...observedOf().live, certificates: [owned('old')] } }));
      assert.deepEqual(actions, []);
      assert.match(found ?? '', fault);
    });

  it('makes nothing for a gateway that is being deleted', () => {
    assert.deepEqual(plan(observedOf([], exampleGateway({}, { deletionTimestamp: '2026-11-30T12:00:00Z' }))).actions, []);
  });

  it('makes what it can while an API is missing', () => {
    const kinds = (missing: Observed['missing']): string[] => [...new Set(plan(observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], exampleGateway(), { missing })).actions.map(({ what }) => what))];
    assert.deepEqual(kinds(new Set([issuers, certificates])), ['gateway', 'redirect']);
    assert.deepEqual(kinds(new Set([gateways, httpRoutes])), ['issuer', 'certificate']);
  });

  it('replaces the list where somebody added a listener, and not where only ours is to go', () => {
    const live = (names: string[], applied: string[]): Gateway => ({
      ...owned('cozystack', 'tgw', 'Gateway'),
      apiVersion: 'gateway.networking.k8s.io/v1',
      metadata: {
        ...owned('cozystack').metadata,
        managedFields: [{ manager: 'tenant-apiserver', operation: 'Apply', apiVersion: 'gateway.networking.k8s.io/v1', fieldsV1: { 'f:spec': { 'f:listeners': Object.fromEntries(applied.map((name) => [`k:{"name":"${name}"}`, {}])) } } }],
      },
      spec: { gatewayClassName: 'cilium', listeners: names.map((name) => ({ name, port: 80, protocol: 'HTTP' })) },
    });
    const replaced = (gateway: Gateway): boolean => plan(observedOf([], exampleGateway(), { live: { ...observedOf().live, gateway } })).actions.some((action) => action.do === 'replace');
    assert.equal(replaced(live(['http', 'open'], ['http'])), true);
    assert.equal(replaced(live(['http', 'https-old-12345678'], ['http', 'https-old-12345678'])), false);
  });

  it('names the namespaces that were attached by spec but do not carry the label', () => {
    assert.deepEqual(plan(observedOf([], exampleGateway({ attachedNamespaces: ['cozy-dashboard', 'cozy-harbor'] }))).unlabelled, ['cozy-harbor']);
  });

  describe('in the modes with a wildcard', () => {
    const summary = (observed: Observed): string[] => listenersIn(observed).map(({ name, hostname, tls }) => `${name.replace(/-[0-9a-f]{8}$/, '')} ${hostname ?? '-'} ${tls?.certificateRefs?.[0]?.name ?? '-'}`);
    const dns01 = exampleGateway({ certMode: 'dns01', dns01: { cloudflare: { apiTokenSecretRef: { name: 'cf', key: 'token' } } } });
    it('covers the apex and those of the children by one certificate', () => {
      const observed = observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], dns01);
      assert.deepEqual(summary(observed), [
        'http - -',
        'https *.acme.example.org cozystack-gateway-tls',
        'https-child-dev *.dev.acme.example.org cozystack-gateway-tls',
        'https-child-shop *.shop.test cozystack-gateway-tls',
        'https-apex acme.example.org cozystack-gateway-tls',
      ]);
      const [certificate, ...more] = objects(plan(observed).actions, 'certificate');
      assert.deepEqual(more, []);
      assert.deepEqual((certificate!.spec as { dnsNames: string[] }).dnsNames, ['acme.example.org', '*.acme.example.org', 'dev.acme.example.org', '*.dev.acme.example.org', 'shop.test', '*.shop.test']);
    });
    it("serves the operator's Secret and issues nothing", () => {
      const observed = observedOf([], exampleGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } }));
      assert.deepEqual(summary(observed).slice(0, 2), ['http - -', 'https *.acme.example.org wild']);
      assert.deepEqual(plan(observed).actions.map(({ what }) => what), ['gateway', 'redirect']);
    });
  });

  describe('with passthrough', () => {
    it('has a listener a service, last, and terminates no such host', () => {
      const observed = observedOf([exampleRoute('tenant-acme', 'a', ['api.acme.example.org', 'www.acme.example.org'])], exampleGateway({ tlsPassthroughServices: ['api', 'not valid'] }));
      assert.deepEqual(listenersIn(observed).map(({ protocol, hostname, tls }) => [protocol, hostname, tls?.mode]), [
        ['HTTP', undefined, undefined],
        ['HTTPS', 'www.acme.example.org', 'Terminate'],
        ['TLS', 'api.acme.example.org', 'Passthrough'],
      ]);
    });
  });

  it('keeps the oldest hosts when there are too many, and names the rest', () => {
    const route = (index: number, day: string) => exampleRoute('tenant-acme', `r${index}`, [`h${index}.acme.example.org`], { createdAt: `2026-11-${day}T12:00:00Z` });
    const old = Array.from({ length: 63 }, (_, index) => route(index + 100, '10'));
    const late = [route(1, '20'), route(2, '21')];
    const { leftOut } = plan(observedOf([...late, ...old]));
    assert.deepEqual(leftOut, ['h1.acme.example.org', 'h2.acme.example.org']);
    assert.equal(listenersIn(observedOf([...late, ...old])).length, 64);
  });

  it('never makes a Gateway that admission refuses, serves or explains every claim, and does not depend on order', () => {
    const host = fc.constantFrom(...Array.from({ length: 90 }, (_, index) => `h${index}.acme.example.org`), 'evil.test', '*.acme.example.org', 'ap.dev.acme.example.org');
    const route = fc.tuple(fc.constantFrom('tenant-acme', 'tenant-acme-dev', 'cozy-dashboard', 'tenant-broken'), fc.array(host, { maxLength: 16 }), fc.integer({ min: 10, max: 30 }));
    const services = fc.array(fc.constantFrom('api', 'h1', 'h2', 'bad name'), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(route, { maxLength: 12 }), services, (specs, tlsPassthroughServices) => {
        const routes = specs.map(([namespace, hosts, day], index) => exampleRoute(namespace, `r${index}`, hosts, { createdAt: `2026-11-${day}T12:00:00Z` }));
        const observed = observedOf(routes, exampleGateway({ tlsPassthroughServices }));
        const made = plan(observed);
        const listeners = listenersIn(observed);
        assert.ok(listeners.length <= 64);
        for (const unique of [listeners.map(({ name }) => name), listeners.map(({ port, hostname = '' }) => `${port} ${hostname}`)]) assert.equal(new Set(unique).size, unique.length);
        const hostnames = new Set(listeners.map(({ hostname }) => hostname));
        for (const { route: claimed, refused, lost } of made.attachments)
          for (const wanted of claimed.spec!.hostnames!)
            assert.ok(hostnames.has(wanted) || lost.includes(wanted) || made.leftOut.includes(wanted) || refused.some((fault) => fault.startsWith(wanted)), wanted);
        assert.deepEqual(plan({ ...observed, routes: routes.toReversed(), attached: observed.attached.toReversed() }), made);
      }),
      { numRuns: 60 },
    );
  });
});
