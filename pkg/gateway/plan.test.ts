import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { applied, exampleGateway, exampleModes, exampleRoute, nothingLive, observedOf } from './example.ts';
import { plan, type Action, type Observed } from './plan.ts';
import { certificates, gateways, httpRoutes, issuers, type Certificate, type Gateway, type Listener } from './types.ts';

const listenersIn = (observed: Observed): Listener[] => applied<Gateway>(plan(observed), 'gateway')[0]!.spec!.listeners;
const short = (action: Action): string => `${action.do} ${action.what} ${'desired' in action ? action.desired.metadata.name : action.object.metadata.name}`;
const owned = (name: string, owner = 'tgw', kind = 'Certificate'): Certificate => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  metadata: { namespace: 'tenant-acme', name, uid: name, ownerReferences: [{ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', name: 'cozystack', uid: owner, controller: true }] },
});

describe('plan for a gateway', () => {
  it('makes a Gateway, an Issuer, a Certificate a host, and a redirect', () => {
    const made = plan(observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'], { parentRef: { port: 443 } })]));
    const { actions, certificates: names } = made;
    assert.deepEqual(names, ['cozystack-www-9e0b0ba7-tls']);
    assert.deepEqual(actions.map(short), ['apply gateway cozystack', 'apply issuer cozystack-gateway', `apply certificate ${names[0]}`, 'apply redirect cozystack-http-redirect']);
    const [gateway] = applied<Gateway>(made, 'gateway');
    assert.deepEqual(gateway!.metadata, {
      name: 'cozystack',
      namespace: 'tenant-acme',
      labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'cozystack.io/managed-by': 'cozystack-controller', 'cozystack.io/gateway': 'tenant-acme' },
      ownerReferences: [{ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', name: 'cozystack', uid: 'tgw', controller: true, blockOwnerDeletion: true }],
    });
    const kinds = ['HTTPRoute', 'TLSRoute'].map((kind) => ({ group: 'gateway.networking.k8s.io', kind }));
    assert.deepEqual(gateway!.spec!.listeners, [
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
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { 'attach.gateway.cozystack.io/tenant-acme': '', 'kubernetes.io/metadata.name': 'tenant-acme' } } }, kinds },
      },
    ]);
    assert.deepEqual(applied(made, 'certificate')[0]!.spec, { secretName: names[0], dnsNames: ['www.acme.example.org'], issuerRef: { kind: 'Issuer', name: 'cozystack-gateway' } });
    assert.deepEqual(applied(made, 'issuer')[0]!.spec, {
      acme: {
        server: 'https://acme-v02.api.letsencrypt.org/directory',
        privateKeySecretRef: { name: 'cozystack-acme-account' },
        solvers: [{ http01: { gatewayHTTPRoute: { parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'cozystack', namespace: 'tenant-acme', sectionName: 'http' }] } } }],
      },
    });
    assert.deepEqual(applied(made, 'redirect')[0]!.spec, {
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
    { name: 'a Certificate of ours that nobody wants goes', observed: observedOf([], exampleGateway(), { live: { ...nothingLive, certificates: [owned('old')] } }), does: ['delete certificate old'] },
    { name: "another's Certificate stays", observed: observedOf([], exampleGateway(), { live: { ...nothingLive, certificates: [owned('old', 'someone')] } }), does: [] },
    { name: 'an Issuer of ours goes in mode existingSecret', observed: observedOf([], exampleGateway(exampleModes.existingSecret), { live: { ...nothingLive, issuer: owned('cozystack-gateway', 'tgw', 'Issuer') } }), does: ['delete issuer cozystack-gateway'] },
    { name: "another's Issuer stays", observed: observedOf([], exampleGateway(exampleModes.existingSecret), { live: { ...nothingLive, issuer: owned('cozystack-gateway', 'someone', 'Issuer') } }), does: [] },
  ]) it(name, () => assert.deepEqual(plan(observed).actions.filter((action) => action.do === 'delete').map(short), does));

  for (const { name, gateway, fault } of [
    { name: 'an apex that is no name', gateway: exampleGateway({ apex: 'nö' }), fault: /^spec\.apex/ },
    { name: 'no Secret in mode existingSecret', gateway: exampleGateway({ certMode: 'existingSecret' }), fault: /^spec\.wildcardSecretRef/ },
    { name: 'no provider in mode dns01', gateway: exampleGateway({ certMode: 'dns01' }), fault: /spec\.dns01\.cloudflare/ },
  ])
    it(`changes nothing for ${name}`, () => {
      const { actions, fault: found } = plan(observedOf([], gateway, { live: { ...nothingLive, certificates: [owned('old')] } }));
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
    const replaced = (gateway: Gateway): boolean => plan(observedOf([], exampleGateway(), { live: { ...nothingLive, gateway } })).actions.some((action) => action.do === 'replace');
    assert.equal(replaced(live(['http', 'open'], ['http'])), true);
    assert.equal(replaced(live(['http', 'https-old-12345678'], ['http', 'https-old-12345678'])), false);
  });

  it('names the namespaces that the spec lists and that are not attached', () => {
    assert.deepEqual(plan(observedOf([], exampleGateway({ attachedNamespaces: ['cozy-dashboard', 'cozy-harbor', 'tenant-evil'] }))).unattached, ['cozy-harbor', 'tenant-evil']);
  });

  it('names on each listener the kinds that its protocol carries, but for data planes that want the same on all', () => {
    const kindsOf = (mergesKinds: boolean): string[] =>
      listenersIn(observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], exampleGateway({ tlsPassthroughServices: ['api'] }), { abilities: { listenerSets: false, mergesKinds } }))
        .slice(1)
        .map(({ allowedRoutes }) => (allowedRoutes as { kinds: { kind: string }[] }).kinds.map(({ kind }) => kind).join());
    assert.deepEqual([kindsOf(true), kindsOf(false)], [['HTTPRoute,TLSRoute', 'HTTPRoute,TLSRoute'], ['HTTPRoute', 'TLSRoute']]);
  });

  describe('in the modes with a wildcard', () => {
    const summary = (observed: Observed): string[] => listenersIn(observed).map(({ name, hostname, tls }) => `${name.replace(/-[0-9a-f]{8}$/, '')} ${hostname ?? '-'} ${tls?.certificateRefs?.[0]?.name ?? '-'}`);
    const dns01 = exampleGateway(exampleModes.dns01);
    it('covers the apex and those of the children by one certificate', () => {
      const observed = observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], dns01);
      assert.deepEqual(summary(observed), [
        'http - -',
        'https *.acme.example.org cozystack-gateway-tls',
        'https-child-dev *.dev.acme.example.org cozystack-gateway-tls',
        'https-apex acme.example.org cozystack-gateway-tls',
      ]);
      assert.deepEqual(applied<Certificate>(plan(observed), 'certificate').map(({ spec }) => spec!.dnsNames), [
        ['acme.example.org', '*.acme.example.org', 'dev.acme.example.org', '*.dev.acme.example.org'],
      ]);
    });
    it("serves the operator's Secret and issues nothing", () => {
      const observed = observedOf([], exampleGateway(exampleModes.existingSecret));
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
});
