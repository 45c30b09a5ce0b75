import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { attachedTo } from './attached.ts';
import { resolveClaims, type Claims } from './claims.ts';
import { dataPlane } from './data-plane-model.ts';
import { applied, exampleGateway, exampleModes, exampleNamespaces, exampleRoute, liveAfter, nothingLive, observedOf } from './example.ts';
import { groundOf } from './ground.ts';
import { above, isUnder, isWildcard } from './hostnames.ts';
import { listenerLimit } from './places.ts';
import { plan, type Observed, type Plan } from './plan.ts';
import type { Gateway, Listener, ListenerSet, Route } from './types.ts';

const apexes = ['acme.example.org', 'dev.acme.example.org', 'shop.test'];
const exact = [...apexes, 'api.acme.example.org', 'a.b.acme.example.org', 'evil.test', ...apexes.flatMap((apex) => ['www', 'app', 'x'].map((label) => `${label}.${apex}`))];
const many = Array.from({ length: 100 }, (_, index) => `h${index}.acme.example.org`);
const hostnames = fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...exact) }, { weight: 3, arbitrary: fc.constantFrom(...many) }, fc.constantFrom('*.acme.example.org', '*.dev.acme.example.org', '*.b.acme.example.org')), { maxLength: 16 });
const routeSpec = fc.record({
  namespace: fc.constantFrom(...exampleNamespaces.map(({ metadata }) => metadata.name!), 'stranger'),
  hosts: hostnames,
  kind: fc.constantFrom('HTTPRoute', 'HTTPRoute', 'HTTPRoute', 'TLSRoute', 'GRPCRoute'),
  parentRef: fc.constantFrom({}, {}, {}, { port: 443 }, { sectionName: 'https' }, { kind: 'ListenerSet', name: 'cozystack-1' }),
  day: fc.integer({ min: 10, max: 30 }),
});
const routes = fc.array(routeSpec, { maxLength: 24 }).map((specs) =>
  specs.map(({ namespace, hosts, kind, parentRef, day }, index) => exampleRoute(namespace, `r${index}`, hosts, { kind, parentRef, createdAt: `2026-11-${day}T12:00:00Z` })),
);
const gateways = fc.record({ mode: fc.constantFrom(...Object.values(exampleModes)), services: fc.uniqueArray(fc.constantFrom('api', 'h1', 'x', 'bad name')) }).map(({ mode, services }) => exampleGateway({ ...mode, tlsPassthroughServices: services }));
const abilities = fc.record({ listenerSets: fc.boolean(), mergesKinds: fc.boolean() });
const situations = fc.record({ routes, gateway: gateways, abilities }).map(({ routes: seen, gateway, abilities: able }) => observedOf(seen, gateway, { abilities: able }));

const holdersOf = (made: Plan): (Gateway | ListenerSet)[] => [...applied<Gateway>(made, 'gateway'), ...applied<ListenerSet>(made, 'listenerSet')];
const claimsOf = (gateway: TenantGateway, seen: readonly Route[]): Claims => {
  const attached = attachedTo(gateway, exampleNamespaces);
  return resolveClaims(gateway, seen, attached, groundOf(gateway, attached));
};
const after = (observed: Observed, made: Plan): Observed => ({ ...observed, live: { ...nothingLive, ...liveAfter(made) } });
/** Where each listener stands. */
const placesIn = (made: Plan, without: readonly string[] = []): Map<string, string> =>
  new Map(holdersOf(made).flatMap((holder) => holder.spec!.listeners.flatMap(({ name, hostname }: Listener) => (hostname && without.includes(hostname) ? [] : [[name, holder.metadata.name!] as const]))));

/** The operator's certificate. */
const given = { wild: apexes.flatMap((apex) => [apex, `*.${apex}`]) };

describe('every plan for a gateway', () => {
  it('passes the admission of Gateway API', () => {
    fc.assert(
      fc.property(situations, (observed) => {
        const holders = holdersOf(plan(observed));
        for (const { spec } of holders) assert.ok(spec!.listeners.length >= 1 && spec!.listeners.length <= listenerLimit);
        const listeners = holders.flatMap(({ spec }) => spec!.listeners);
        // Of one port, HTTPS and TLS count as one protocol: a host that is terminated is not passed through as well.
        for (const unique of [listeners.map(({ name }) => name), listeners.map(({ port, hostname = '' }) => `${port} ${hostname}`)]) assert.equal(new Set(unique).size, unique.length);
        // A policy refuses a Gateway with a host that is not below its namespace's.
        for (const { hostname = apexes[0]! } of listeners) assert.ok(isUnder(hostname, apexes[0]!), hostname);
        for (const { name, hostname = 'any' } of listeners) for (const text of [name, hostname]) assert.match(text, /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
      }),
    );
  });

  it('serves a host for one namespace and for no other', () => {
    fc.assert(
      fc.property(situations, (observed) => {
        const made = plan(observed);
        const plane = dataPlane(liveAfter(made), observed.routes, observed.attached, given);
        const { byHost } = claimsOf(observed.gateway, observed.routes);
        for (const host of [...exact, ...many, 'nobody.acme.example.org', 'nobody.dev.acme.example.org']) {
          const namespaces = new Set(plane.answering(host, 443).map(({ metadata }) => metadata.namespace));
          // Where there is no room for a host of its own, a catch-all above it answers.
          const holder = (made.leftOut.includes(host) ? undefined : byHost.get(host)) ?? byHost.get(`*.${above(host)}`);
          assert.ok(namespaces.isSubsetOf(new Set([holder?.namespace])), `${host} is served for ${[...namespaces].join()} and is ${holder?.namespace}'s`);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('serves each hostname of each route, or says on the route why not', () => {
    fc.assert(
      fc.property(situations, (observed) => {
        const made = plan(observed);
        const plane = dataPlane(liveAfter(made), observed.routes, observed.attached, given);
        for (const route of observed.routes) {
          const entries = made.attachments.filter((attachment) => attachment.route === route);
          const isTold = entries.length > 0 && entries.every(({ faults }) => faults.length > 0);
          for (const hostname of route.spec!.hostnames!) {
            const host = isWildcard(hostname) ? `nobody.${above(hostname)}` : hostname;
            const isServed = plane.answering(host, 443).includes(route);
            assert.ok(isServed || isTold, `${hostname} of ${route.metadata.namespace}/${route.metadata.name} is not served, and nobody says so`);
            // What is told by name is so.
            if (entries.every(({ faults }) => faults.some((fault) => fault.host === hostname))) assert.ok(!isServed, `${hostname} is served and told not to be`);
          }
          if (route.spec!.hostnames!.length === 0) assert.ok(isTold);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(situations, (observed) => {
        const first = plan(observed);
        const second = plan(after(observed, first));
        assert.deepEqual(liveAfter(second), liveAfter(first));
        assert.deepEqual(second.actions.filter((action) => action.do !== 'apply'), []);
      }),
    );
  });

  it('does not depend on the order of what is seen', () => {
    fc.assert(
      fc.property(situations, (observed) => {
        const turned = { ...observed, routes: observed.routes.toReversed(), attached: observed.attached.toReversed() };
        assert.deepEqual(plan(turned), plan(observed));
      }),
    );
  });

  it('moves no listener when one more route comes, but of the hosts that this has itself', () => {
    fc.assert(
      fc.property(situations, routeSpec, (observed, { namespace, hosts, parentRef }) => {
        const before = plan(observed);
        const more = exampleRoute(namespace, 'more', hosts, { parentRef, createdAt: '2026-11-01T12:00:00Z' });
        const next = plan({ ...after(observed, before), routes: [...observed.routes, more] });
        const places = placesIn(next, hosts);
        for (const [name, holder] of placesIn(before, hosts)) assert.ok(!places.has(name) || places.get(name) === holder, `${name} moved`);
        // In the mode with a listener a host, none goes either: only the host of another winner is pinned anew.
        if (observed.gateway.spec.certMode === 'http01') assert.ok(new Set(placesIn(before, hosts).keys()).isSubsetOf(new Set(places.keys())));
      }),
    );
  });

  it('leaves nothing out where there are ListenerSets', () => {
    fc.assert(fc.property(situations, (observed) => assert.deepEqual(plan({ ...observed, abilities: { ...observed.abilities, listenerSets: true } }).leftOut, [])));
  });
});
