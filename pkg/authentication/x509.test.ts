import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { certSign, clientAuth, makeAuthority, makeCertificate, makeClient, serverAuth, type Fixture, type FixtureKey } from './certificate-fixtures.ts';
import { CertificateError, peerVerifier, readBundle, verifyChain, type TrustAnchors } from './x509.ts';

const certificates = (fixtures: Fixture[]): X509Certificate[] => fixtures.map(({ certificate }) => certificate);
const verify = (leaf: Fixture, intermediates: Fixture[], roots: Fixture[], now = new Date()): string[] =>
  verifyChain(leaf.certificate, certificates(intermediates), certificates(roots), now, 'clientAuth').certificates.map(({ subject }) => subject.replace('CN=', ''));

const root = makeAuthority({ commonName: 'root' });
const other = makeAuthority({ commonName: 'other' });
const middle = makeAuthority({ commonName: 'middle', issuer: root });
const past = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2021-01-01T00:00:00Z') };

describe('verifyChain', () => {
  for (const key of ['rsa', 'ecdsa', 'ed25519'] satisfies FixtureKey[]) {
    it(`follows ${key} signatures through an intermediate`, () => {
      const anchor = makeAuthority({ commonName: 'anchor', key });
      const between = makeAuthority({ commonName: 'between', issuer: anchor, key });
      assert.deepEqual(verify(makeClient(between, { key }), [between], [other, anchor]), ['client', 'between', 'anchor']);
    });
  }

  const accepted: { name: string; leaf: Fixture; intermediates?: Fixture[]; roots?: Fixture[]; chain: string[] }[] = [
    { name: 'a root of a bundle', leaf: makeClient(root), roots: [other, root], chain: ['client', 'root'] },
    { name: 'no extended key usage at all', leaf: makeClient(root, { usages: undefined }), chain: ['client', 'root'] },
    { name: 'any extended key usage', leaf: makeClient(root, { usages: ['2.5.29.37.0'] }), chain: ['client', 'root'] },
    { name: 'client and server usage', leaf: makeClient(root, { usages: [serverAuth, clientAuth] }), chain: ['client', 'root'] },
    { name: 'intermediates in any order, and some of no use', leaf: makeClient(middle), intermediates: [other, middle], chain: ['client', 'middle', 'root'] },
  ];
  for (const { name, leaf, intermediates = [], roots = [root], chain } of accepted) {
    it(`accepts ${name}`, () => assert.deepEqual(verify(leaf, intermediates, roots), chain));
  }
  it('accepts a certificate that is itself among the roots', () => {
    const pinned = makeCertificate({ commonName: 'pinned' });
    assert.deepEqual(verify(pinned, [], [pinned]), ['pinned']);
  });
  it('accepts an issuer whose key usage lets it sign', () => {
    const signing = makeAuthority({ commonName: 'signing', keyUsage: certSign });
    assert.deepEqual(verify(makeClient(signing), [], [signing]), ['client', 'signing']);
  });
  it('finds the way where two roots have one name', () => {
    const twin = makeAuthority({ commonName: 'root' });
    assert.deepEqual(verify(makeClient(root), [], [twin, root]), ['client', 'root']);
  });
  it('accepts a path as long as its length allows', () => {
    const shallow = makeAuthority({ commonName: 'shallow', pathLength: 1 });
    const below = makeAuthority({ commonName: 'below', issuer: shallow });
    assert.deepEqual(verify(makeClient(below), [below], [shallow]), ['client', 'below', 'shallow']);
  });

  const expiredMiddle = makeAuthority({ commonName: 'middle', issuer: root, ...past });
  const noAuthority = makeCertificate({ commonName: 'no authority', issuer: root });
  const noSigner = makeAuthority({ commonName: 'no signer', issuer: root, keyUsage: 0x80 });
  const serversOnly = makeAuthority({ commonName: 'servers only', issuer: root, usages: [serverAuth] });
  const expiredRoot = makeAuthority({ commonName: 'expired root', ...past });
  const flat = makeAuthority({ commonName: 'flat', pathLength: 0 });
  const belowFlat = makeAuthority({ commonName: 'below flat', issuer: flat });
  const constrained = makeAuthority({ commonName: 'constrained', extensions: [['2.5.29.30', true, '\u0030\u0000']] });
  const sameName = makeAuthority({ commonName: 'root' });
  const alternativeName = ['2.5.29.17', false, '\u0030\u0003\u0082\u0001a'] as const;
  for (const { name, leaf, intermediates = [], roots = [root], fault } of [
    { name: 'an unknown authority', leaf: makeClient(other), fault: /signed by unknown authority/ },
    { name: 'no roots', leaf: makeClient(root), roots: [], fault: /signed by unknown authority/ },
    { name: 'an authority of the same name with another key', leaf: makeClient(sameName), fault: /another key/ },
    { name: 'a missing intermediate', leaf: makeClient(middle), fault: /signed by unknown authority/ },
    { name: 'an expired certificate', leaf: makeClient(root, past), fault: /has expired or is not yet valid: current time .* is after 2021-01-01T00:00:00.000Z/ },
    { name: 'a certificate of tomorrow', leaf: makeClient(root, { notBefore: new Date(Date.now() + 3_600_000) }), fault: /is before/ },
    { name: 'an expired intermediate', leaf: makeClient(expiredMiddle), intermediates: [expiredMiddle], fault: /is after/ },
    { name: 'an expired root', leaf: makeClient(expiredRoot), roots: [expiredRoot], fault: /is after/ },
    { name: 'a server certificate', leaf: makeClient(root, { usages: [serverAuth] }), fault: /incompatible key usage/ },
    { name: 'an intermediate for servers', leaf: makeClient(serversOnly), intermediates: [serversOnly], fault: /incompatible key usage/ },
    { name: 'an issuer that is no authority', leaf: makeClient(noAuthority), intermediates: [noAuthority], fault: /"CN=no authority" is not authorized to sign/ },
    { name: 'an issuer whose key usage forbids it', leaf: makeClient(noSigner), intermediates: [noSigner], fault: /may not sign certificates/ },
    { name: 'a path that is too long', leaf: makeClient(belowFlat), intermediates: [belowFlat], roots: [flat], fault: /too many intermediates/ },
    { name: 'a critical extension nobody knows', leaf: makeClient(root, { extensions: [['1.2.3.4', true, 'what']] }), fault: /unhandled critical extension 1\.2\.3\.4/ },
    { name: 'name constraints over alternative names', leaf: makeClient(constrained, { extensions: [alternativeName] }), roots: [constrained], fault: /name constraints/ },
    { name: 'an extension that comes twice', leaf: makeClient(root, { extensions: [alternativeName, alternativeName] }), fault: /twice/ },
    { name: 'a SHA-1 signature', leaf: makeClient(root, { hash: 'sha1' }), fault: /insecure or unknown algorithm/ },
    { name: 'a certificate that signed itself', leaf: makeCertificate({ commonName: 'root', usages: [clientAuth] }), fault: /another key/ },
  ] satisfies { name: string; leaf: Fixture; intermediates?: Fixture[]; roots?: Fixture[]; fault: RegExp }[]) {
    it(`refuses ${name}`, () => assert.throws(() => verify(leaf, intermediates, roots), (error) => error instanceof CertificateError && fault.test(error.message)));
  }

  it('ends soon where intermediates sign each other', () => {
    const keys = makeAuthority();
    const crowd = Array.from({ length: 60 }, () => makeAuthority({ commonName: 'loop', key: 'ed25519', issuer: makeAuthority({ commonName: 'loop', key: keys }) }));
    const started = performance.now();
    assert.throws(() => verify(makeClient(makeAuthority({ commonName: 'loop' })), crowd, [root]), CertificateError);
    assert.ok(performance.now() - started < 2_000);
  });
});

describe('peerVerifier', () => {
  const now = Date.now();
  const client = makeClient(root, { notBefore: new Date(now - 60_000), notAfter: new Date(now + 60_000) });

  it('remembers a connection until its certificate ends, the clock goes back, or the roots change', () => {
    let time = now;
    const check = peerVerifier('clientAuth', () => time);
    const peer = [client.certificate];
    const anchors: TrustAnchors = { roots: [root.certificate] };
    const first = check(peer, anchors);
    assert.equal(check(peer, anchors), first);
    assert.throws(() => check(peer, { roots: [other.certificate] }), CertificateError);
    assert.ok(check(peer, anchors));
    time = now + 61_000;
    assert.throws(() => check(peer, anchors), /is after/);
    time = now - 61_000;
    assert.throws(() => check(peer, anchors), /is before/);
  });

  it('looks again at a refusal after a second', () => {
    let time = now - 61_000;
    const check = peerVerifier('clientAuth', () => time);
    const peer = [client.certificate];
    const anchors = { roots: [root.certificate] };
    assert.throws(() => check(peer, anchors), CertificateError);
    time = now;
    assert.ok(check(peer, anchors));
  });
});

describe('readBundle', () => {
  it('reads every certificate, and nothing else', () => {
    const bundle = `# comment\n${root.certPem}${root.keyPem}\n${other.certPem.replaceAll('\n', '\r\n')}`;
    assert.deepEqual(readBundle(bundle).map(({ subject }) => subject), ['CN=root', 'CN=other']);
  });
  it('refuses an empty bundle and a broken certificate', () => {
    assert.throws(() => readBundle('nothing'), /does not contain/);
    assert.throws(() => readBundle('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'));
  });
});
