import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { dataPlane } from './data-plane-model.ts';
import { applied, exampleGateway, exampleModes, exampleRoute, liveAfter, nothingLive, observedOf } from './example.ts';
import { listenerLimit } from './places.ts';
import { plan, type Observed, type Plan } from './plan.ts';
import type { Certificate, Gateway, Route } from './types.ts';

type Mode = keyof typeof exampleModes;
const wildcards = { wild: ['acme.example.org', '*.acme.example.org', 'dev.acme.example.org', '*.dev.acme.example.org'] };

const issued = (certificate: Certificate): Certificate => ({ ...certificate, status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }] } });
const isIssued = ({ status }: Certificate): boolean => status?.conditions?.[0]?.status === 'True';

/** What is there once a plan was carried out: Certificates that were there keep what cert-manager said of them. */
const carriedOut = (live: Observed['live'], made: Plan): Observed['live'] => {
  const gone = new Set(made.actions.flatMap((action) => (action.do === 'delete' ? [action.object.metadata.name] : [])));
  const next = liveAfter(made);
  const before = new Map(live.certificates.map((certificate) => [certificate.metadata.name, certificate]));
  for (const certificate of next.certificates) before.set(certificate.metadata.name, { ...before.get(certificate.metadata.name), ...certificate });
  return { ...next, certificates: [...before.values()].filter(({ metadata }) => !gone.has(metadata.name)) };
};

const inMode = (mode: Mode): TenantGateway => exampleGateway({ ...exampleModes[mode], tlsPassthroughServices: ['api'] });

/** A gateway that was in a mode for long enough. */
const settledIn = (mode: Mode, routes: Route[]): Observed => {
  let observed = observedOf(routes, inMode(mode), { live: nothingLive });
  for (let turn = 0; turn < 3; turn += 1) {
    const live = carriedOut(observed.live, plan(observed));
    observed = { ...observed, live: { ...live, certificates: live.certificates.map(issued) } };
  }
  return observed;
};

/** By host: the routes that answer, with certificates that were issued alone. */
const answers = ({ live, routes, attached, given }: Observed, hosts: readonly string[]): Map<string, string> => {
  const usable = given.get('wild') ? wildcards : {};
  const plane = dataPlane({ ...live, certificates: live.certificates.filter(isIssued) }, routes, attached, usable);
  return new Map(hosts.map((host) => [host, plane.answering(host, 443).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted().join()]));
};

const modes = Object.keys(exampleModes) as Mode[];
const switches = modes.flatMap((from) => modes.flatMap((to) => (from === to ? [] : [{ from, to }])));
const hosts = ['acme.example.org', 'www.acme.example.org', 'app.acme.example.org', 'x.acme.example.org', 'dev.acme.example.org', 'www.dev.acme.example.org', 'a.b.acme.example.org', ...Array.from({ length: 70 }, (_, index) => `h${index}.acme.example.org`)];
const routes = fc
  .array(fc.record({ namespace: fc.constantFrom('tenant-acme', 'tenant-acme-dev', 'cozy-dashboard', 'default'), names: fc.uniqueArray(fc.constantFrom(...hosts, '*.acme.example.org'), { minLength: 1, maxLength: 12 }) }), { minLength: 1, maxLength: 12 })
  .map((specs) => specs.map(({ namespace, names }, index) => exampleRoute(namespace, `r${index}`, names)));

describe('a switch of modes', () => {
  for (const { from, to } of switches) {
    it(`from ${from} to ${to} goes on serving each host that is served before and after, while certificates come one by one`, () => {
      fc.assert(
        fc.property(routes, fc.array(fc.nat(100), { minLength: 3, maxLength: 12 }), (seen, order) => {
          const before = settledIn(from, seen);
          const [first, last] = [answers(before, hosts), answers(settledIn(to, seen), hosts)];
          let observed: Observed = { ...before, gateway: inMode(to), given: new Map([['wild', from === 'existingSecret']]) };
          const check = (when: string): void => {
            const now = answers(observed, hosts);
            for (const [host, route] of first) if (route !== '' && last.get(host) === route) assert.equal(now.get(host), route, `${host}, ${when}`);
            for (const holder of [observed.live.gateway!, ...observed.live.sets]) assert.ok(holder.spec!.listeners.length <= listenerLimit);
          };
          const turn = (when: string): void => {
            observed = { ...observed, live: carriedOut(observed.live, plan(observed)) };
            check(when);
          };
          turn('at once');
          turn('with nothing new');
          for (const which of order) {
            const lacking = observed.live.certificates.filter((certificate) => !isIssued(certificate));
            const next = lacking[which % Math.max(1, lacking.length)];
            observed = { ...observed, live: { ...observed.live, certificates: observed.live.certificates.map((certificate) => (certificate === next ? issued(certificate) : certificate)) } };
            turn(`once ${next?.metadata.name} is issued`);
          }
          observed = { ...observed, given: new Map([['wild', true]]), live: { ...observed.live, certificates: observed.live.certificates.map(issued) } };
          for (const when of ['once all are issued', 'after the switch', 'in the end']) turn(when);
          assert.deepEqual(liveAfter(plan(observed)), liveAfter(plan(settledIn(to, seen))), 'nothing of the former mode is left');
          assert.deepEqual(plan(observed).actions.filter((action) => action.do !== 'apply'), []);
          assert.deepEqual(plan(observed).waiting, []);
        }),
        { numRuns: 40 },
      );
    });
  }

  describe('from a wildcard to hosts of their own', () => {
    const seen = [exampleRoute('tenant-acme', 'www', ['www.acme.example.org', 'app.acme.example.org'])];
    const begun = ((before) => ({ ...before, gateway: inMode('http01'), live: carriedOut(before.live, plan({ ...before, gateway: inMode('http01') })) }))(settledIn('dns01', seen));
    /** The hosts with listeners of their own, once the certificate of www is there and that of app is in a state. */
    const own = (app: Certificate['status']): string[] => {
      const certificates = begun.live.certificates.map((certificate) => (certificate.spec!.dnsNames!.includes('www.acme.example.org') ? issued(certificate) : certificate.spec!.dnsNames!.includes('app.acme.example.org') ? { ...certificate, status: app } : certificate));
      const made = plan({ ...begun, live: { ...begun.live, certificates } });
      return applied<Gateway>(made, 'gateway')[0]!.spec!.listeners.flatMap(({ hostname = '' }) => (/^(www|app)/.test(hostname) ? [hostname] : []));
    };

    it('lets them leave together', () => {
      assert.deepEqual(own({}), []);
      assert.deepEqual(own(issued(begun.live.certificates[0]!).status), ['app.acme.example.org', 'www.acme.example.org']);
    });
    it('does not wait for one whose order has failed', () => assert.deepEqual(own({ failedIssuanceAttempts: 1 }), ['www.acme.example.org']));
  });

  it('does not wait where nothing was served before: nobody had issued anything', () => {
    const seen = [exampleRoute('tenant-acme', 'www', ['www.acme.example.org'])];
    const before = observedOf(seen, inMode('http01'));
    const made = plan({ ...before, live: liveAfter(plan(before)), gateway: inMode('dns01') });
    assert.deepEqual(made.waiting, []);
    assert.deepEqual(made.actions.flatMap((action) => (action.do === 'delete' ? [action.what] : [])), [], 'what is there serves it until the next look');
  });

  it('keeps former certificates until the data plane has seen the new listeners', () => {
    const seen = [exampleRoute('tenant-acme', 'www', ['www.acme.example.org'])];
    const before = settledIn('http01', seen);
    const live = carriedOut(before.live, plan({ ...before, gateway: inMode('existingSecret') }));
    const told = (observedGeneration: number): Plan =>
      plan({ ...before, gateway: inMode('existingSecret'), live: { ...live, gateway: { ...live.gateway!, metadata: { ...live.gateway!.metadata, generation: 2 }, status: { conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: '', lastTransitionTime: '', observedGeneration }] } } } });
    const deleted = (made: Plan): string[] => made.actions.flatMap((action) => (action.do === 'delete' && action.what === 'certificate' ? [action.object.metadata.name!] : []));
    assert.equal(deleted(told(1)).length, 0);
    assert.equal(deleted(told(2)).length, 1);
  });
});
