import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import { ManualClock } from '../../controller/manual-clock.ts';
import { StatusError } from '../../kube/status-error.ts';
import { exampleGateway } from '../example.ts';
import { defaultIssuers, issuersFrom } from '../issuance/issuers.ts';
import { covers, judgeTls } from './certificate.ts';
import { factsOf, type Secret, type SecretFacts } from './facts.ts';
import { secretNeeds, type Need } from './needs.ts';
import { SecretReader } from './reader.ts';
import { makeServer, tlsSecret } from './tls-fixture.ts';
import { existingSecretVerdict, missingSecretVerdict } from './verdict.ts';

const now = Date.UTC(2026, 11, 1);
const dayMs = 86_400_000;
const valid = { notBefore: new Date(now - dayMs), notAfter: new Date(now + 90 * dayMs) };
const own = ['acme.example.org', '*.acme.example.org'];
const good = makeServer(own, valid);
const others = makeServer(own, valid);
const bytes = (text: string): Buffer => Buffer.from(text);

describe('the content of a TLS Secret', () => {
  for (const { name, certificate, key, fault } of [
    { name: 'no certificate', certificate: undefined, key: bytes(good.keyPem), fault: 'key tls.crt is missing or empty' },
    { name: 'no key', certificate: bytes(good.certPem), key: undefined, fault: 'key tls.key is missing or empty' },
    { name: 'an empty key', certificate: bytes(good.certPem), key: bytes(''), fault: 'key tls.key is missing or empty' },
    { name: 'what is no certificate', certificate: bytes('secret text'), key: bytes(good.keyPem), fault: 'tls.crt is no X.509 certificate in PEM' },
    { name: 'what is no key', certificate: bytes(good.certPem), key: bytes('secret text'), fault: 'tls.key is no private key in PEM, or is encrypted' },
    { name: 'the key of another certificate', certificate: bytes(good.certPem), key: bytes(others.keyPem), fault: 'tls.key does not belong to the first certificate of tls.crt' },
    { name: 'the certificates in the wrong order', certificate: bytes(others.certPem + good.certPem), key: bytes(good.keyPem), fault: 'tls.key does not belong to the first certificate of tls.crt' },
  ])
    it(`is at fault: ${name}`, () => assert.deepEqual(judgeTls(certificate, key), { fault }));

  for (const key of ['rsa', 'ecdsa', 'ed25519'] as const)
    it(`is understood with a key of type ${key}, and with a chain`, () => {
      const { certPem, keyPem } = makeServer(['Acme.Example.ORG', '*.acme.example.org'], { ...valid, key });
      assert.deepEqual(judgeTls(bytes(certPem + others.certPem), bytes(keyPem)), { facts: { names: own, notBefore: now - dayMs, notAfter: now + 90 * dayMs } });
    });
});

describe('whether a certificate covers a host', () => {
  for (const [names, host, does] of [
    [['a.example.org'], 'A.example.org.', true],
    [['*.example.org'], 'a.example.org', true],
    [['*.example.org'], '*.example.org', true],
    [['*.example.org'], 'example.org', false],
    [['*.example.org'], 'b.a.example.org', false],
    [['*.example.org'], '*.a.example.org', false],
    [['a.example.org'], '*.example.org', false],
    [['*'], 'org', false],
    [[], 'example.org', false],
  ] as const)
    it(`${names.join(', ') || 'no name'} for ${host}: ${does ? 'yes' : 'no'}`, () => assert.equal(covers(names, host), does));
});

describe('what is said of a Secret that a gateway serves', () => {
  const need: Need = { name: 'wild', key: { tls: true }, field: 'spec.wildcardSecretRef' };
  const present = (secret: Secret): SecretFacts => factsOf(secret);
  const wild = (fixture = good): Secret => tlsSecret('tenant-acme', 'wild', fixture);
  const children = ['dev.acme.example.org', 'shop.test'];
  const forAll = makeServer([...own, ...children, ...children.map((child) => `*.${child}`)], valid);
  for (const { name, facts, at = now, status = 'False', reason, says, uncovered = [] } of [
    { name: 'it is not there', facts: { state: 'absent' } as SecretFacts, reason: 'SecretMissing', says: /^Secret tenant-acme\/wild \(spec\.wildcardSecretRef\) does not exist$/, uncovered: children },
    { name: 'it may not be read', facts: { state: 'unreadable' } as SecretFacts, reason: 'SecretUnreadable', says: /not allowed/, uncovered: children },
    { name: 'it is of another type', facts: present({ ...wild(), type: 'Opaque' }), reason: 'SecretInvalid', says: /is of type Opaque, and must be of type kubernetes\.io\/tls/, uncovered: children },
    { name: 'its key is of another certificate', facts: present(wild({ ...good, keyPem: others.keyPem })), reason: 'SecretInvalid', says: /tls\.key does not belong/, uncovered: children },
    { name: 'it expired', facts: present(wild()), at: now + 90 * dayMs, reason: 'CertificateExpired', says: /expired at 2027-03-01T00:00:00Z/ },
    { name: 'it is not valid yet', facts: present(wild()), at: now - 2 * dayMs, reason: 'CertificateNotYetValid', says: /before 2026-11-30T00:00:00Z/ },
    { name: 'it is for the wildcard alone', facts: present(wild(makeServer(['*.acme.example.org'], valid))), reason: 'NamesNotCovered', says: /not valid for acme\.example\.org; have it/ },
    { name: 'it is for the apex alone', facts: present(wild(makeServer(['acme.example.org'], valid))), reason: 'NamesNotCovered', says: /not valid for \*\.acme\.example\.org; have it/ },
    { name: 'it is for somebody else', facts: present(wild(makeServer(['example.net'], valid))), reason: 'NamesNotCovered', says: /not valid for acme\.example\.org, \*\.acme\.example\.org/ },
    { name: 'its names are in the subject only', facts: present(wild(makeServer([], { ...valid, commonName: 'acme.example.org', extensions: [] }))), reason: 'NamesNotCovered', says: /acme\.example\.org/ },
    { name: 'children are not covered', facts: present(wild()), status: 'True', reason: 'ChildrenNotCovered', says: /not valid for \*\.dev\.acme\.example\.org, shop\.test, \*\.shop\.test:/, uncovered: children },
    { name: 'it is good', facts: present(wild(forAll)), status: 'True', reason: 'SecretValid', says: /^The certificate in Secret tenant-acme\/wild is valid until 2027-03-01T00:00:00Z$/ },
    { name: 'it expires soon', facts: present(wild(forAll)), at: now + 80 * dayMs, status: 'True', reason: 'ExpiresSoon', says: /until 2027-03-01T00:00:00Z\. It expires soon/ },
  ])
    it(name, () => {
      const found = existingSecretVerdict('tenant-acme', { need, facts }, 'acme.example.org', children, at);
      assert.deepEqual([found.verdict.status, found.verdict.reason], [status, reason]);
      assert.match(found.verdict.message, says);
      if (uncovered.length > 0) assert.deepEqual(found.uncovered, uncovered);
    });

  it('never tells what it holds', () => {
    const secret = { ...wild(), data: { 'tls.crt': btoa('hush'), 'tls.key': btoa('hush'), token: btoa('hush') } };
    const { verdict } = existingSecretVerdict('tenant-acme', { need, facts: present(secret) }, 'acme.example.org', [], now);
    assert.doesNotMatch(JSON.stringify([verdict, JSON.stringify(present(secret)), (present(secret) as { tls?: unknown }).tls]), /hush|aHVzaA/);
  });
});

describe('the Secrets that a gateway needs', () => {
  const token = { name: 'token', key: 'api-token' };
  const dns01 = (block: TenantGatewaySpec['dns01']): TenantGatewaySpec => exampleGateway({ certMode: 'dns01', dns01: block }).spec;
  const bound = issuersFrom({ corp: { server: 'https://acme.corp.example', externalAccountBinding: { keyID: 'id', keySecretRef: { name: 'eab', key: 'hmac' } } } });
  for (const { name, spec, issuers = defaultIssuers, needs } of [
    { name: 'by HTTP-01: none', spec: exampleGateway().spec, needs: [] },
    { name: 'by HTTP-01, whatever stands in blocks of another mode', spec: exampleGateway({ dns01: { cloudflare: { apiTokenSecretRef: token } }, wildcardSecretRef: { name: 'wild' } }).spec, needs: [] },
    { name: 'cloudflare', spec: dns01({ cloudflare: { apiTokenSecretRef: token } }), needs: ['token/api-token'] },
    { name: 'digitalocean', spec: dns01({ provider: 'digitalocean', digitalocean: { tokenSecretRef: token } }), needs: ['token/api-token'] },
    { name: 'rfc2136', spec: dns01({ provider: 'rfc2136', rfc2136: { nameserver: 'ns', tsigKeyName: 'k', tsigSecretSecretRef: token } }), needs: ['token/api-token'] },
    { name: 'route53 with an access key', spec: dns01({ provider: 'route53', route53: { region: 'r', accessKeyID: 'id', secretAccessKeySecretRef: token } }), needs: ['token/api-token'] },
    { name: 'route53 with the identity of the pod, also where an empty name is written', spec: dns01({ provider: 'route53', route53: { region: 'r', secretAccessKeySecretRef: { name: '', key: 'k' } } }), needs: [] },
    { name: 'the block of another provider', spec: dns01({ provider: 'digitalocean', cloudflare: { apiTokenSecretRef: token }, digitalocean: { tokenSecretRef: { name: 'do', key: 'k' } } }), needs: ['do/k'] },
    { name: 'an account that is bound to another', spec: exampleGateway({ issuerName: 'corp' }).spec, issuers: bound, needs: ['eab/hmac'] },
    { name: 'one that it serves itself', spec: exampleGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' }, issuerName: 'corp' }).spec, issuers: bound, needs: ['wild/tls'] },
  ])
    it(name, () => assert.deepEqual(secretNeeds(spec, issuers).map(({ name: secret, key }) => `${secret}/${typeof key === 'string' ? key : 'tls'}`), needs));

  it('are told where they are missing, or lack the key', () => {
    const needs = secretNeeds(dns01({ cloudflare: { apiTokenSecretRef: token } }), defaultIssuers);
    const verdict = (facts: SecretFacts) => missingSecretVerdict('tenant-acme', [{ need: needs[0]!, facts }]);
    assert.equal(verdict(factsOf({ metadata: {}, apiVersion: 'v1', kind: 'Secret', data: { 'api-token': 'eA==' } })), undefined);
    assert.deepEqual(verdict({ state: 'absent' }), { type: 'CertificatesReady', status: 'False', reason: 'SecretMissing', message: 'Secret tenant-acme/token (spec.dns01.cloudflare) does not exist' });
    for (const data of [{ other: 'eA==' }, { 'api-token': '' }] as Record<string, string>[])
      assert.equal(verdict(factsOf({ metadata: {}, apiVersion: 'v1', kind: 'Secret', data }))?.message, 'Secret tenant-acme/token (spec.dns01.cloudflare) has nothing under key api-token');
  });
});

describe('the reader of Secrets', () => {
  const need: Need = { name: 'token', key: 'k', field: 'f' };
  const secret = (data: Record<string, string>): Secret => ({ apiVersion: 'v1', kind: 'Secret', metadata: {}, data });
  const readerOf = (answer: () => Promise<Secret>) => {
    const clock = new ManualClock(now);
    const reads: string[] = [];
    const reader = new SecretReader((namespace, name) => {
      reads.push(`${namespace}/${name}`);
      return answer();
    }, clock);
    return { reader, clock, reads };
  };

  it('reads again what is sound after five minutes, what is faulty after ten seconds', async () => {
    let data: Record<string, string> = {};
    const { reader, clock, reads } = readerOf(() => Promise.resolve(secret(data)));
    await reader.see('n', [need]);
    assert.equal(reader.believedFor('n', [need]), 10_000);
    await clock.advance(9999);
    await reader.see('n', [need]);
    assert.equal(reads.length, 1);
    data = { k: 'eA==' };
    await clock.advance(1);
    assert.deepEqual((await reader.see('n', [need]))[0]!.facts, factsOf(secret(data)));
    assert.equal(reader.believedFor('n', [need]), 300_000);
    await clock.advance(299_999);
    await reader.see('n', [need]);
    assert.equal(reads.length, 2);
  });

  it('reads at once what it was told to forget', async () => {
    const { reader, reads } = readerOf(() => Promise.resolve(secret({ k: 'eA==' })));
    await reader.see('n', [need]);
    reader.forget('n', 'token');
    await reader.see('n', [need]);
    assert.deepEqual(reads, ['n/token', 'n/token']);
  });

  for (const { error, state } of [
    { error: StatusError.notFound({ group: '', resource: 'secrets' }, 'token'), state: 'absent' },
    { error: new StatusError(403, 'Forbidden', 'no'), state: 'unreadable' },
  ])
    it(`knows that a Secret is ${state}`, async () => assert.equal((await readerOf(() => Promise.reject(error)).reader.see('n', [need]))[0]!.facts.state, state));

  it('does not take an outage for an absence', () => assert.rejects(readerOf(() => Promise.reject(new StatusError(503, 'ServiceUnavailable', 'no'))).reader.see('n', [need])));
});
