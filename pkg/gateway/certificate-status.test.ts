import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { exampleGateway, exampleRoute, observedOf } from './example.ts';
import { registeredDomains, setOf } from './issuance/names.ts';
import { plan } from './plan.ts';
import { factsOf, type SecretFacts } from './secrets/facts.ts';
import { makeServer, tlsSecret } from './secrets/tls-fixture.ts';
import type { SeenSecret } from './secrets/verdict.ts';
import { statusOf, type Outlook } from './status.ts';
import type { Gateway } from './types.ts';

const now = Date.UTC(2026, 11, 1);
const weekMs = 7 * 86_400_000;

/** What is seen of a gateway whose data plane is content with everything. */
const outlookOf = (gateway: TenantGateway, change: Partial<Outlook> = {}): Outlook => {
  const planned = plan(observedOf([exampleRoute('tenant-acme', 'www', ['www.acme.example.org'])], gateway));
  const { desired } = planned.actions.find((action) => action.do === 'apply' && action.what === 'gateway') as { desired: Gateway };
  const yes = (type: string) => ({ type, status: 'True' as const, reason: type, message: '', lastTransitionTime: '2026-11-30T10:00:00Z' });
  const conditions = [yes('Accepted'), yes('Programmed')];
  const live = { ...desired, status: { conditions, listeners: desired.spec!.listeners.map(({ name }) => ({ name, conditions })) } };
  return { plan: planned, refused: [], rejected: [], missing: new Set(), waiting: [], secrets: [], live: { gateway: live, certificates: [], sets: [] }, ...change };
};

const said = (gateway: TenantGateway, outlook: Outlook) => {
  const { conditions, listeners } = statusOf(gateway, outlook, now);
  const of = (type: string) => conditions?.find((condition) => condition.type === type);
  return { certified: of('CertificatesReady'), ready: of('Ready'), listeners: listeners! };
};

describe('status of a gateway whose certificate has to wait', () => {
  const gateway = exampleGateway();
  const outlook = outlookOf(gateway);
  const [certificate] = outlook.plan.certificates;
  const hosts = ['www.acme.example.org'];
  const wanted = { gateway: 'tenant-acme/cozystack', certificate: certificate!, domains: registeredDomains(hosts), set: setOf(hosts), since: now };
  const waiting = [{ wanted, until: now + weekMs, limit: 'certificatesPerDomain' as const, domain: 'example.org', allowed: { count: 50, periodMs: weekMs } }];

  it('tells until when, and what helps', () => {
    const { certified, ready } = said(gateway, { ...outlook, waiting });
    assert.deepEqual([certified?.status, certified?.reason, ready?.reason], ['False', 'RateLimited', 'RateLimited']);
    assert.match(certified!.message, /allows 50 new certificates for example\.org in 7 days.*ordered at 2026-12-08T00:00:00Z.*What helps: certMode dns01/);
  });

  it('tells it on the listener', () => {
    const { listeners } = said(gateway, { ...outlook, waiting });
    assert.deepEqual(listeners.map(({ hostname, ready, reason }) => [hostname, ready, reason]), [[undefined, true, undefined], ['www.acme.example.org', false, 'RateLimited']]);
  });
});

describe('status of a gateway that serves a Secret', () => {
  const gateway = exampleGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } });
  const served = (facts: SecretFacts): SeenSecret[] => [{ need: { name: 'wild', key: { tls: true }, field: 'spec.wildcardSecretRef' }, facts }];
  const fixture = makeServer(['acme.example.org', '*.acme.example.org', 'shop.test', '*.shop.test'], { notBefore: new Date(now - weekMs), notAfter: new Date(now + 20 * weekMs) });

  it('is not ready without it', () => {
    const { certified, ready, listeners } = said(gateway, outlookOf(gateway, { secrets: served({ state: 'absent' }) }));
    assert.deepEqual([certified?.reason, ready?.status, ready?.reason], ['SecretMissing', 'False', 'SecretMissing']);
    assert.deepEqual(listeners.filter(({ hostname }) => hostname).map(({ ready: isReady }) => isReady).includes(true), false);
  });

  it('is ready with it, tells when it ends, and which tenant below it does not cover', () => {
    const { certified, ready, listeners } = said(gateway, outlookOf(gateway, { secrets: served(factsOf(tlsSecret('tenant-acme', 'wild', fixture))) }));
    assert.deepEqual([certified?.status, certified?.reason, ready?.status], ['True', 'ChildrenNotCovered', 'True']);
    assert.match(certified!.message, /not valid for \*\.dev\.acme\.example\.org:/);
    const byHost = Object.fromEntries(listeners.map(({ hostname = '', certificate }) => [hostname, certificate]));
    assert.deepEqual(byHost['*.acme.example.org'], { ready: true, notAfter: '2027-04-20T00:00:00Z' });
    assert.deepEqual(byHost['*.dev.acme.example.org'], { ready: false, notAfter: '2027-04-20T00:00:00Z', reason: 'NamesNotCovered' });
  });
});

describe('status of a gateway whose DNS provider needs a Secret', () => {
  const gateway = exampleGateway({ certMode: 'dns01', dns01: { cloudflare: { apiTokenSecretRef: { name: 'token', key: 'key' } } } });

  it('names what is missing before it says that nothing was issued', () => {
    const secrets: SeenSecret[] = [{ need: { name: 'token', key: 'key', field: 'spec.dns01.cloudflare' }, facts: { state: 'absent' } }];
    assert.equal(said(gateway, outlookOf(gateway, { secrets })).ready?.message, 'Secret tenant-acme/token (spec.dns01.cloudflare) does not exist');
    assert.equal(said(gateway, outlookOf(gateway)).ready?.reason, 'CertificatesPending');
  });
});
