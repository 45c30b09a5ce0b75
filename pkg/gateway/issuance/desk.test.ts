import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import { Informer, type InformerSource } from '../../controller/informer.ts';
import { ManualClock } from '../../controller/manual-clock.ts';
import type { ReflectorHandler } from '../../kube/reflector.ts';
import { exampleGateway } from '../example.ts';
import type { Action } from '../plan.ts';
import type { Certificate } from '../types.ts';
import { IssuanceDesk } from './desk.ts';
import { issuersFrom } from './issuers.ts';
import type { Entry, IssuanceLedger } from './ledger.ts';

const start = Date.UTC(2026, 11, 1);
const dayMs = 24 * 3_600_000;
const issuers = issuersFrom({ small: { server: 'https://acme.example.net', limits: { certificatesPerDomain: { count: 2, period: '168h' }, duplicates: { count: 2, period: '168h' } } }, endless: { server: 'https://acme.example.net' } });

const acme = exampleGateway({ issuerName: 'small' });
const other = exampleGateway({ issuerName: 'small', apex: 'other.example.org' }, { namespace: 'tenant-other', uid: 'other' });

const certificate = (name: string, hosts: string[], { metadata = {}, ...more }: { metadata?: object; status?: object } = {}): Certificate => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: {
    namespace: 'tenant-acme',
    name,
    uid: name,
    ownerReferences: [{ apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', name: 'cozystack', uid: 'tgw', controller: true }],
    ...metadata,
  },
  spec: { secretName: name, dnsNames: hosts },
  ...more,
});

const order = (host: string, live?: Certificate): Action => ({ do: 'apply', what: 'certificate', desired: certificate(`${host}-tls`, [host]), live });

/** A desk with what it stands on: `ledger` outlives it, as the ConfigMaps do a restart. */
const deskWith = (ledger: Entry[] = [], live: Certificate[] = [], clock = new ManualClock(start)) => {
  let handler: ReflectorHandler | undefined;
  const source = (items: object[]): InformerSource => (given) => {
    given.replace(items as Certificate[], '1');
    handler = given;
    return () => Promise.resolve();
  };
  const tenantGateways = new Informer<TenantGateway>(source([acme, other]));
  tenantGateways.start();
  const certificates = new Informer<Certificate>(source(live));
  const woken: string[] = [];
  const store: IssuanceLedger & { fail: boolean } = {
    fail: false,
    read: () => Promise.resolve([...ledger]),
    add: (entries, lapsedAt) => {
      if (store.fail) return Promise.reject(new Error('no ledger'));
      const kept = ledger.filter(({ at }) => at > lapsedAt);
      ledger.splice(0, ledger.length, ...kept, ...entries);
      return Promise.resolve();
    },
  };
  const desk = new IssuanceDesk({ ledger: store, issuers, tenantGateways, certificates, clock });
  desk.wake = (key) => void woken.push(key);
  certificates.start();
  return { desk, clock, woken, ledger, store, event: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Certificate) => handler!.event(type, object) };
};

const namesOf = (actions: readonly Action[]): string[] => actions.flatMap((action) => (action.do === 'apply' ? [action.desired.metadata.name!] : []));

describe('the desk that hands out orders', () => {
  it('lets what is within the budget be ordered, after it is in the ledger', async () => {
    const { desk, ledger } = deskWith();
    const { actions, waiting } = await desk.ration(acme, [order('a.example.org'), order('b.example.org'), order('c.example.org')]);
    assert.deepEqual(namesOf(actions), ['a.example.org-tls', 'b.example.org-tls']);
    assert.deepEqual(waiting.map(({ wanted, until }) => [wanted.certificate, until]), [['c.example.org-tls', start + 7 * dayMs]]);
    assert.deepEqual(ledger.map((entry) => [entry.certificate, entry.issuer, entry.gateway, entry.at]), [
      ['a.example.org-tls', 'small', 'tenant-acme/cozystack', start],
      ['b.example.org-tls', 'small', 'tenant-acme/cozystack', start],
    ]);
  });

  it('a restart does not forget what was ordered, although route, Certificate and gateway are gone', async () => {
    const { desk, ledger, clock } = deskWith();
    await desk.ration(acme, [order('a.example.org'), order('b.example.org')]);
    const { waiting } = await deskWith(ledger, [], clock).desk.ration(other, [order('c.example.org')]);
    assert.deepEqual(waiting.map(({ until }) => until), [start + 7 * dayMs]);
  });

  it('a host that is taken away and added again and again does not spend what others need', async () => {
    const { desk } = deskWith();
    for (let turn = 0; turn < 4; turn += 1) {
      await desk.ration(acme, [order('a.example.org')]);
      await desk.ration(acme, []);
    }
    const { waiting } = await desk.ration(acme, [order('a.example.org')]);
    assert.deepEqual(waiting.map(({ limit }) => limit), ['duplicates']);
    assert.deepEqual((await desk.ration(other, [order('b.example.org')])).waiting, []);
  });

  it('counts Certificates that were there before there was a ledger, and notes them with the next order', async () => {
    const live = ['a', 'b'].map((name) => certificate(`${name}-tls`, [`${name}.example.org`], { metadata: { creationTimestamp: '2026-11-30T00:00:00Z' } }));
    const { desk, ledger } = deskWith([], live);
    const { waiting } = await desk.ration(acme, [order('c.example.org'), order('c.example.net')]);
    assert.deepEqual(waiting.map(({ wanted, until }) => [wanted.certificate, until]), [['c.example.org-tls', start + 6 * dayMs]]);
    assert.deepEqual(ledger.map((entry) => entry.certificate), ['a-tls', 'b-tls', 'c.example.net-tls']);
  });

  it('does not count a Certificate twice that it ordered itself', async () => {
    const { desk, ledger, clock } = deskWith();
    await desk.ration(acme, [order('a.example.org')]);
    const made = certificate('a.example.org-tls', ['a.example.org'], { metadata: { creationTimestamp: '2026-12-01T00:00:02Z' } });
    const after = deskWith(ledger, [made], clock);
    assert.deepEqual((await after.desk.ration(acme, [order('b.example.org')])).waiting, []);
    assert.equal(ledger.length, 2);
  });

  it('counts renewals by cert-manager where they count: as duplicates', async () => {
    const renewed = certificate('a-tls', ['a.example.org'], { metadata: { creationTimestamp: '2026-09-01T00:00:00Z' }, status: { revision: 2, notBefore: '2026-11-29T00:00:00Z' } });
    const { desk, event } = deskWith([], [renewed]);
    event('MODIFIED', { ...renewed, metadata: { ...renewed.metadata, resourceVersion: '2' }, status: { revision: 3, notBefore: '2026-11-30T12:00:00Z' } });
    const { waiting } = await desk.ration(acme, [order('a.example.org'), order('b.example.org'), order('c.example.org')]);
    assert.deepEqual(waiting.map(({ limit, wanted }) => [limit, wanted.certificate]), [['duplicates', 'a.example.org-tls']]);
  });

  it('a Certificate that could not be made is tried again at no further cost', async () => {
    const { desk, ledger } = deskWith();
    for (let attempt = 0; attempt < 5; attempt += 1) assert.deepEqual((await desk.ration(acme, [order('a.example.org')])).waiting, []);
    assert.equal(ledger.length, 1);
  });

  it('leaves a Certificate as it is while a wider one waits', async () => {
    const { desk } = deskWith();
    await desk.ration(acme, [order('a.example.org'), order('b.example.org')]);
    const live = certificate('wild-tls', ['example.org']);
    const wider: Action = { do: 'apply', what: 'certificate', desired: certificate('wild-tls', ['example.org', 'dev.example.org']), live };
    assert.deepEqual(namesOf((await desk.ration(acme, [wider])).actions), []);
    const same: Action = { do: 'apply', what: 'certificate', desired: certificate('wild-tls', ['example.org']), live };
    assert.deepEqual(namesOf((await desk.ration(acme, [same])).actions), ['wild-tls']);
  });

  it('has a Certificate issued anew where the gateway has another issuer, within its budget', async () => {
    const { desk } = deskWith();
    const from = (issuer: string): Certificate => certificate('a-tls', ['a.example.org'], { metadata: { labels: { 'gateway.cozystack.io/issuer': issuer } } });
    const switched: Action = { do: 'apply', what: 'certificate', desired: from('small'), live: from('endless') };
    assert.deepEqual((await desk.ration(acme, [switched])).renewals.map(({ metadata }) => metadata.name), ['a-tls']);
    await desk.ration(acme, []);
    await desk.ration(acme, [switched]);
    await desk.ration(acme, []);
    const { renewals, waiting, actions } = await desk.ration(acme, [switched]);
    assert.deepEqual([renewals, actions, waiting.map(({ limit }) => limit)], [[], [], ['duplicates']]);
    const back: Action = { do: 'apply', what: 'certificate', desired: from('endless'), live: from('small') };
    assert.equal((await desk.ration(exampleGateway({ issuerName: 'endless' }), [back])).renewals.length, 1);
  });

  it('leaves alone what was made before it was noted by whom', async () => {
    const { desk, ledger } = deskWith();
    const live = certificate('a-tls', ['a.example.org']);
    const labelled = certificate('a-tls', ['a.example.org'], { metadata: { labels: { 'gateway.cozystack.io/issuer': 'small' } } });
    const { renewals, actions } = await desk.ration(acme, [{ do: 'apply', what: 'certificate', desired: labelled, live }]);
    assert.deepEqual([renewals, actions.length, ledger], [[], 1, []]);
  });

  it('orders nothing where the ledger cannot be written, and forgets that it was going to', async () => {
    const { desk, store, ledger } = deskWith();
    store.fail = true;
    await assert.rejects(desk.ration(acme, [order('a.example.org'), order('b.example.org')]), /no ledger/);
    store.fail = false;
    assert.deepEqual((await desk.ration(other, [order('c.example.org'), order('d.example.org')])).waiting, []);
    assert.equal(ledger.length, 2);
  });

  it('tells what is left for each domain that something was ordered for', async () => {
    const { desk, clock } = deskWith();
    await desk.ration(acme, [order('a.example.org')]);
    await clock.advance(dayMs);
    await desk.ration(other, [order('b.example.org'), order('b.example.net')]);
    assert.deepEqual(desk.left(), [{ issuer: 'small', domain: 'example.org', left: 0 }, { issuer: 'small', domain: 'example.net', left: 1 }]);
    await clock.advance(6 * dayMs);
    assert.deepEqual(desk.left().map(({ left }) => left), [1, 1]);
  });

  it('wakes the gateway whose turn it is', async () => {
    const { desk, clock, woken } = deskWith();
    await desk.ration(acme, [order('a.example.org'), order('b.example.org')]);
    await desk.ration(other, [order('c.example.org')]);
    await clock.advance(8 * dayMs);
    const { actions } = await desk.ration(acme, [order('d.example.org'), order('e.example.org')]);
    assert.deepEqual(namesOf(actions), ['d.example.org-tls']);
    assert.deepEqual(woken, ['tenant-other/cozystack']);
    assert.deepEqual((await desk.ration(other, [order('c.example.org')])).waiting, []);
  });

  it('a gateway that is gone is waited for by nobody', async () => {
    const { desk, clock } = deskWith();
    await desk.ration(acme, [order('a.example.org'), order('b.example.org')]);
    await desk.ration(other, [order('c.example.org')]);
    desk.forget('tenant-other/cozystack');
    await clock.advance(8 * dayMs);
    assert.deepEqual((await desk.ration(acme, [order('d.example.org'), order('e.example.org')])).waiting, []);
  });

  it('keeps no ledger of an issuer without limits', async () => {
    const { desk, ledger } = deskWith();
    const hosts = Array.from({ length: 100 }, (_, index) => order(`h${index}.example.org`));
    assert.equal((await desk.ration(exampleGateway({ issuerName: 'endless' }), hosts)).actions.length, 100);
    assert.deepEqual(ledger, []);
  });
});
