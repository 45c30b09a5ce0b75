import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { dataPlane } from './data-plane-model.ts';
import { exampleModes, exampleGateway, exampleRoute, exampleSolver, liveAfter, observedOf } from './example.ts';
import { plan } from './plan.ts';
import type { Route, RouteMatch } from './types.ts';

const host = 'www.acme.example.org';
const routeWith = (matches: RouteMatch[] | undefined, hostnames: string[] = [host], parentRef: object = {}): Route => {
  const route = exampleRoute('tenant-acme', 'app', hostnames, { parentRef, createdAt: '2020-01-01T00:00:00Z' });
  return { ...route, spec: { ...route.spec, rules: [{ ...(matches && { matches }) }] } };
};
const onPort80 = (routes: Route[], path: string, wanted = host): string | undefined => {
  const observed = observedOf(routes);
  return dataPlane(liveAfter(plan(observed)), routes, observed.attached).answers(wanted, 80, path)?.metadata.name;
};

describe('the redirect to https', () => {
  it('goes before all that a route matches, however closely, though the route is older', () => {
    const match = fc.record({ path: fc.record({ type: fc.constantFrom('Exact', 'PathPrefix'), value: fc.constantFrom('/', '/app', '/app/login') }), method: fc.constantFrom('GET', undefined) }, { requiredKeys: ['path'] });
    fc.assert(
      fc.property(fc.array(match, { minLength: 1, maxLength: 8 }), fc.constantFrom('/', '/app', '/app/login', '/other'), (matches, path) => {
        const made = matches.map(({ method, path: matched }): RouteMatch => ({ path: matched, ...(method && { method }) }));
        assert.match(onPort80([routeWith(made)], path) ?? 'cozystack-http-redirect', /^cozystack-http-redirect/);
      }),
    );
  });

  it('leaves challenges of cert-manager alone', () => {
    assert.equal(onPort80([routeWith(undefined), exampleSolver(host)], '/.well-known/acme-challenge/token'), exampleSolver(host).metadata.name);
  });

  it('answers hosts that no route names', () => {
    assert.equal(onPort80([routeWith(undefined)], '/', 'other.acme.example.org'), 'cozystack-http-redirect');
  });

  it('needs no help where a route names a listener, or cannot reach port 80', () => {
    const names = (route: Route): string[] => liveAfter(plan(observedOf([route]))).redirects.map(({ metadata }) => metadata.name!);
    assert.deepEqual(names(routeWith(undefined, [host], { port: 443 })), ['cozystack-http-redirect']);
    assert.deepEqual(names(exampleRoute('tenant-acme-dev', 'app', ['app.dev.acme.example.org'])), ['cozystack-http-redirect']);
    assert.deepEqual(names(routeWith(undefined)).length, 2);
  });

  for (const [mode, spec] of Object.entries(exampleModes)) {
    it(`goes with its route, in mode ${mode}`, () => {
      const before = observedOf([routeWith(undefined)], exampleGateway(spec));
      const live = liveAfter(plan(before));
      const { actions } = plan({ ...before, routes: [], live });
      assert.deepEqual(actions.flatMap((action) => (action.do === 'delete' && action.what === 'redirect' ? [action.object.metadata.name] : [])), [live.redirects[1]!.metadata.name]);
    });
  }

  for (const { name, route } of [
    { name: 'a route without hosts', route: routeWith(undefined, []) },
    { name: 'a route with a host that is not its own', route: routeWith(undefined, ['evil.test']) },
    { name: 'a route with a wildcard', route: routeWith(undefined, ['*.acme.example.org']) },
    { name: 'a route that matches by all the headers there may be', route: routeWith([{ headers: Array.from({ length: 16 }, (_, index) => ({ name: `h${index}`, value: 'x' })) }]) },
    { name: 'a route with more matches than a redirect may have', route: routeWith(Array.from({ length: 64 }, (_, index) => ({ path: { value: `/${index}` } })), [host, 'a.acme.example.org']) },
  ])
    it(`cannot go before ${name}: that is told`, () => {
      const { plain } = plan(observedOf([route]));
      assert.deepEqual([...plain], [route]);
    });
});
