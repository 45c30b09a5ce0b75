import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Condition } from '../../api/meta/v1/types.ts';
import { exampleGateway, exampleRoute, observedOf } from './example.ts';
import { plan } from './plan.ts';
import { routeUpdates } from './route-status.ts';
import { statusOf, type Outlook } from './status.ts';
import { certificates, issuers, type Certificate, type Gateway, type Route } from './types.ts';

const now = Date.UTC(2026, 10, 30, 12);
const condition = (type: string, status: Condition['status']): Condition => ({ type, status, reason: type, message: '', lastTransitionTime: '2026-11-30T10:00:00Z' });
const www = exampleRoute('tenant-acme', 'www', ['www.acme.example.org'], { parentRef: { port: 443 } });
const planned = plan(observedOf([www]));
const gatewayIn = (accepted: Condition['status'], programmed: Condition['status'], listening: Condition['status'] = programmed): Gateway => {
  const action = planned.actions.find(({ what }) => what === 'gateway')!;
  const { spec } = (action as { desired: Gateway }).desired;
  const conditions = [condition('Accepted', listening), condition('Programmed', listening)];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'cozystack', namespace: 'tenant-acme' },
    spec,
    status: { conditions: [condition('Accepted', accepted), condition('Programmed', programmed)], listeners: spec!.listeners.map(({ name }) => ({ name, conditions })) },
  };
};
const certificate = (status: Condition['status']): Certificate => ({ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: { name: planned.certificates[0] }, status: { conditions: [condition('Ready', status)] } });
const outlook = (change: Partial<Outlook> = {}): Outlook => ({ plan: planned, refused: [], rejected: [], missing: new Set(), waiting: [], secrets: [], live: { gateway: gatewayIn('True', 'True'), certificates: [certificate('True')], sets: [] }, ...change });

describe('status of a gateway', () => {
  for (const { name, seen, reason, ready = 'False' } of [
    { name: 'all is well', seen: outlook(), reason: 'Reconciled', ready: 'True' },
    { name: 'no data plane', seen: outlook({ live: { gateway: gatewayIn('Unknown', 'Unknown'), certificates: [], sets: [] } }), reason: 'GatewayNotAccepted' },
    { name: 'not programmed', seen: outlook({ live: { gateway: gatewayIn('True', 'False'), certificates: [], sets: [] } }), reason: 'GatewayNotProgrammed' },
    { name: 'a Certificate is pending', seen: outlook({ live: { gateway: gatewayIn('True', 'True'), certificates: [certificate('False')], sets: [] } }), reason: 'CertificatesPending' },
    { name: 'a listener is not ready', seen: outlook({ live: { gateway: gatewayIn('True', 'True', 'False'), certificates: [certificate('True')], sets: [] } }), reason: 'ListenersNotReady' },
    { name: 'an API is missing', seen: outlook({ missing: new Set([issuers, certificates]) }), reason: 'ApiMissing' },
    { name: 'a foreign object is in the way', seen: outlook({ refused: ['Issuer tenant-acme/cozystack-gateway exists'] }), reason: 'NotOwned' },
    { name: 'the kube-apiserver rejects an object', seen: outlook({ rejected: ['Gateway "cozystack" is invalid'] }), reason: 'ReconcileError' },
    { name: 'hosts were left out', seen: outlook({ plan: { ...planned, leftOut: ['x.acme.example.org'] } }), reason: 'ListenerLimitReached' },
    { name: 'a name makes no host', seen: outlook({ plan: { ...planned, nameless: ['A b'] } }), reason: 'InvalidNames' },
    { name: 'the spec is wrong', seen: outlook({ plan: { ...planned, fault: 'spec.apex: no' } }), reason: 'InvalidSpec' },
  ] as { name: string; seen: Outlook; reason: string; ready?: string }[])
    it(`${name}: ${reason}`, () => {
      const status = statusOf(exampleGateway(), seen, now);
      const found = status.conditions?.find(({ type }) => type === 'Ready');
      assert.deepEqual([found?.status, found?.reason, status.observedGeneration], [ready, reason, 3]);
    });

  it('tells of a listener whose certificate is not there', () => {
    const { listeners } = statusOf(exampleGateway(), outlook({ live: { gateway: gatewayIn('True', 'True'), certificates: [], sets: [] } }), now);
    assert.deepEqual(listeners?.map(({ ready, reason, hostname }) => [hostname, ready, reason]), [[undefined, true, undefined], ['www.acme.example.org', false, 'CertificateNotReady']]);
  });

  it('believes what is said of a Certificate only of what it asks for now', () => {
    const reissued = { ...certificate('True'), metadata: { ...certificate('True').metadata, generation: 2 }, status: { conditions: [{ ...condition('Ready', 'True'), observedGeneration: 1 }] } };
    const { listeners, conditions } = statusOf(exampleGateway(), outlook({ live: { gateway: gatewayIn('True', 'True'), certificates: [reissued], sets: [] } }), now);
    assert.deepEqual(listeners?.[1]?.certificate, { ready: false, reason: 'Pending' });
    assert.equal(conditions?.find(({ type }) => type === 'CertificatesReady')?.reason, 'CertificatesPending');
  });

  it('keeps the time of a transition while the status stays', () => {
    const before = statusOf(exampleGateway(), outlook(), now - 3_600_000);
    const after = statusOf({ ...exampleGateway(), status: before }, outlook({ live: { gateway: gatewayIn('True', 'True', 'False'), certificates: [certificate('True')], sets: [] } }), now);
    const times = Object.fromEntries(after.conditions!.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    assert.equal(times['Accepted'], '2026-11-30T11:00:00Z');
    assert.equal(times['Ready'], '2026-11-30T12:00:00Z');
  });
});

describe('status of routes', () => {
  const key = 'tenant-acme/cozystack';
  const updates = (routes: Route[]) => routeUpdates(key, routes, plan(observedOf(routes)), now);
  const foreign = { parentRef: { name: 'cozystack', namespace: 'tenant-acme' }, controllerName: 'io.cilium/gateway-controller', conditions: [condition('Accepted', 'True')] };
  const withParents = (route: Route, parents: NonNullable<Route['status']>['parents']): Route => ({ ...route, status: { parents } });

  it('says once what became of each, and keeps what others say', () => {
    const [update] = updates([withParents(www, [foreign])]);
    assert.deepEqual(update!.parents.map(({ controllerName }) => controllerName), [foreign.controllerName, 'gateway.cozystack.io/tenantgateway-controller']);
    assert.deepEqual(update!.parents[1]!.conditions?.map(({ status, reason, observedGeneration }) => [status, reason, observedGeneration]), [['True', 'Accepted', 1]]);
    assert.deepEqual(updates([withParents(www, update!.parents)]), []);
    assert.deepEqual(updates([withParents(www, update!.parents.toReversed())]), []);
  });

  const older = Array.from({ length: 63 }, (_, index) => exampleRoute('tenant-acme', `r${index}`, [`h${index}.acme.example.org`], { createdAt: '2026-11-10T12:00:00Z' }));
  for (const { name, routes, reason } of [
    { name: 'a conflict', routes: [exampleRoute('cozy-dashboard', 'a', ['x.acme.example.org']), exampleRoute('tenant-acme', 'b', ['x.acme.example.org'])], reason: 'HostnameConflict' },
    { name: 'a foreign host', routes: [exampleRoute('tenant-acme', 'b', ['evil.test'])], reason: 'HostnameNotAllowed' },
    { name: 'a host without a listener', routes: [...older, www], reason: 'ListenerLimitReached' },
  ])
    it(`tells of ${name}`, () => {
      const last = updates(routes).at(-1)!;
      assert.deepEqual(last.parents[0]!.conditions?.slice(0, 1).map(({ type, status, reason: found }) => [type, status, found]), [['Accepted', 'False', reason]]);
    });

  it('has one entry a parentRef', () => {
    const route = exampleRoute('tenant-acme', 'two', ['www.acme.example.org']);
    route.spec!.parentRefs!.push({ name: 'cozystack', namespace: 'tenant-acme', sectionName: 'https-www-9e0b0ba7' });
    assert.equal(updates([route])[0]!.parents.length, 2);
  });

  it('is worth an event when a route is refused, for another reason, or no longer, and not when all is well from the beginning', () => {
    const mine = exampleRoute('tenant-acme', 'b', ['x.acme.example.org'], { parentRef: { port: 443 } });
    const lost = updates([exampleRoute('cozy-dashboard', 'a', ['x.acme.example.org']), mine]).find(({ route }) => route === mine)!;
    const news = (parents: NonNullable<Route['status']>['parents'], ...more: Route[]) => updates([withParents(mine, parents), ...more]).map((update) => update.news?.reason);
    assert.equal(lost.news?.reason, 'HostnameConflict');
    assert.deepEqual(news([]), [undefined]);
    assert.deepEqual(news(lost.parents), ['Accepted']);
    assert.deepEqual(news(lost.parents, exampleRoute('cozy-dashboard', 'a', ['x.acme.example.org'])), [undefined]); // that of the winner; the loser knows
  });

  it('says of a route that names no listener where it is served in plain text', () => {
    const told = (parentRef: object, namespace = 'tenant-acme', host = '*.acme.example.org') =>
      updates([exampleRoute(namespace, 'a', [host], { parentRef })])[0]!.parents[0]!.conditions!.filter(({ type }) => type === 'Redirected').map(({ status, reason }) => [status, reason]);
    assert.deepEqual(told({}), [['False', 'ServedInPlainText']]);
    for (const parentRef of [{ port: 443 }, { sectionName: 'https' }]) assert.deepEqual(told(parentRef), []);
    assert.deepEqual(told({}, 'tenant-acme-dev'), []); // no other namespace reaches port 80
  });

  it('takes back what is no longer so, and nothing else', () => {
    const [update] = updates([withParents(www, [foreign])]);
    const detached = withParents({ ...www, spec: { parentRefs: [], hostnames: ['www.acme.example.org'] } }, update!.parents);
    assert.deepEqual(updates([detached])[0]!.parents, [foreign]);
  });
});
