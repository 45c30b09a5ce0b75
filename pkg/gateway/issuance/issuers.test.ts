import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { makeAuthority } from '../../authentication/certificate-fixtures.ts';
import { exampleGateway } from '../example.ts';
import { issuerSpec } from '../issuer.ts';
import { defaultIssuers, issuersFrom } from './issuers.ts';

const server = 'https://acme.example.net/directory';
const hourMs = 3_600_000;

describe('the table of issuers', () => {
  it('has the two of Let’s Encrypt, with the limits that it publishes', () => {
    assert.deepEqual([...issuersFrom({}).keys()], ['letsencrypt-prod', 'letsencrypt-stage']);
    assert.deepEqual(defaultIssuers.get('letsencrypt-prod')!.limits, {
      certificatesPerDomain: { count: 50, periodMs: 168 * hourMs },
      duplicates: { count: 5, periodMs: 168 * hourMs },
      orders: { count: 300, periodMs: 3 * hourMs },
    });
  });

  it('takes more, without limits where none are given', () => {
    const entry = issuersFrom({ internal: { server } }).get('internal');
    assert.deepEqual(entry, { server, limits: {} });
  });

  it('replaces field by field what is there', () => {
    const entry = issuersFrom({ 'letsencrypt-prod': { email: 'ops@example.org', limits: { duplicates: { count: 3, period: '24h' } } } }).get('letsencrypt-prod');
    assert.deepEqual(entry, { server: 'https://acme-v02.api.letsencrypt.org/directory', email: 'ops@example.org', limits: { duplicates: { count: 3, periodMs: 24 * hourMs } } });
  });

  const binding = { keyID: 'id', keySecretRef: { name: 'eab', key: 'secret' } };
  for (const { name, given, fault } of [
    { name: 'no map', given: [], fault: /holds no map/ },
    { name: 'a name that is none', given: { A_b: { server } }, fault: /A_b: a name is/ },
    { name: 'an entry that is no map', given: { a: 1 }, fault: /a: is no map/ },
    { name: 'no server', given: { a: {} }, fault: /a: server: must be the https URL/ },
    { name: 'a server without TLS', given: { a: { server: 'http://acme' } }, fault: /a: server/ },
    { name: 'an unknown field', given: { a: { server, mail: 'x' } }, fault: /a: mail: is no field; there are server, email/ },
    { name: 'an empty e-mail', given: { a: { server, email: '' } }, fault: /a: email/ },
    { name: 'a CA that is no certificate', given: { a: { server, caBundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' } }, fault: /a: caBundle/ },
    { name: 'half a binding', given: { a: { server, externalAccountBinding: { keyID: 'id' } } }, fault: /a: externalAccountBinding/ },
    { name: 'a binding with more', given: { a: { server, externalAccountBinding: { ...binding, key: 'x' } } }, fault: /a: externalAccountBinding/ },
    { name: 'a limit without period', given: { a: { server, limits: { orders: { count: 1 } } } }, fault: /a: limits\.orders/ },
    { name: 'a limit of nothing', given: { a: { server, limits: { orders: { count: 0, period: '1h' } } } }, fault: /a: limits\.orders/ },
    { name: 'a limit that is not known', given: { a: { server, limits: { accounts: {} } } }, fault: /a: limits: accounts: is no field/ },
    { name: 'several faults', given: { a: {}, b: {} }, fault: /a: server.*; b: server/ },
  ])
    it(`refuses ${name}`, () => assert.throws(() => issuersFrom(given), fault));

  it('becomes the spec of an Issuer', () => {
    const { certPem } = makeAuthority();
    const issuers = issuersFrom({ internal: { server, email: 'ops@example.org', caBundle: certPem, externalAccountBinding: binding } });
    const made = issuerSpec('tenant-acme', 'cozystack', exampleGateway({ issuerName: 'internal' }).spec, issuers) as { spec: { acme: Record<string, unknown> } };
    const { solvers: _solvers, caBundle, ...acme } = made.spec.acme;
    assert.deepEqual(acme, { server, email: 'ops@example.org', externalAccountBinding: binding, privateKeySecretRef: { name: 'cozystack-acme-account' } });
    assert.equal(Buffer.from(String(caBundle), 'base64').toString().trim(), certPem.trim());
  });

  it('has a fault to tell where the issuer of a gateway is no longer in it', () => {
    assert.deepEqual(issuerSpec('tenant-acme', 'cozystack', exampleGateway({ issuerName: 'gone' }).spec, defaultIssuers), {
      fault: 'spec.issuerName: there is no issuer "gone"; there are letsencrypt-prod, letsencrypt-stage',
    });
  });
});
