import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAuthority, type KeyType, loadAuthority } from './certificates.ts';

const keyTypes: KeyType[] = ['rsa', 'ecdsa'];

describe('certificates', () => {
  for (const authorityType of keyTypes) {
    for (const leafType of keyTypes) {
      it(`${authorityType} authority issues an ${leafType} certificate that verifies`, async () => {
        const authority = await createAuthority({ commonName: 'a CA', keyType: authorityType });
        const { certPem, keyPem } = await authority.issue({
          commonName: 'zoë',
          organizations: ['g:one', 'g,two'],
          dnsNames: ['svc.ns.svc', 'localhost'],
          ipAddresses: ['127.0.0.1', '::1'],
          usages: ['server', 'client'],
          keyType: leafType,
        });
        const root = new X509Certificate(authority.certPem);
        const leaf = new X509Certificate(certPem);
        assert.ok(root.ca && root.verify(root.publicKey));
        assert.ok(!leaf.ca && leaf.verify(root.publicKey));
        assert.ok(leaf.checkIssued(root));
        assert.ok(leaf.checkPrivateKey(createPrivateKey(keyPem)));
        assert.equal(leaf.checkHost('svc.ns.svc'), 'svc.ns.svc');
        assert.equal(leaf.checkIP('127.0.0.1'), '127.0.0.1');
        assert.equal(leaf.checkIP('::1'), '::1');
        assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
        const { subject } = leaf.toLegacyObject();
        assert.deepEqual(subject.O, ['g:one', 'g,two']);
        assert.equal(subject.CN, 'zoë');
        assert.equal(leaf.publicKey.asymmetricKeyType, leafType === 'rsa' ? 'rsa' : 'ec');
      });
    }
  }

  it('keeps the validity it was asked for, also past 2049', async () => {
    const authority = await createAuthority({ commonName: 'ca' });
    const notBefore = new Date('2020-02-03T04:05:06Z');
    const notAfter = new Date('2051-02-03T04:05:06Z');
    const leaf = new X509Certificate((await authority.issue({ commonName: 'x', usages: ['client'], notBefore, notAfter })).certPem);
    assert.deepEqual([leaf.validFromDate, leaf.validToDate], [notBefore, notAfter]);
  });

  it('refuses a validity that ends before it begins, and what is no IP address', async () => {
    const authority = await createAuthority({ commonName: 'ca' });
    await assert.rejects(authority.issue({ commonName: 'x', usages: [], notAfter: new Date(0) }), RangeError);
    await assert.rejects(authority.issue({ commonName: 'x', usages: [], ipAddresses: ['localhost'] }), RangeError);
  });

  it('issues on from a stored authority, and refuses a key of another one', async () => {
    const [one, two] = await Promise.all([createAuthority({ commonName: 'one' }), createAuthority({ commonName: 'two', keyType: 'rsa' })]);
    const again = loadAuthority({ certPem: one.certPem, keyPem: one.keyPem });
    const leaf = new X509Certificate((await again.issue({ commonName: 'x', usages: ['client'] })).certPem);
    assert.ok(leaf.verify(new X509Certificate(one.certPem).publicKey));
    assert.throws(() => loadAuthority({ certPem: one.certPem, keyPem: two.keyPem }), /not the one of CN=one/);
  });

  it('makes chains that TLS accepts on both sides', async () => {
    const [servers, clients] = await Promise.all([createAuthority({ commonName: 'ca' }), createAuthority({ commonName: 'ca', keyType: 'rsa' })]);
    const [server, client] = await Promise.all([
      servers.issue({ commonName: 'server', dnsNames: ['localhost'], usages: ['server'] }),
      clients.issue({ commonName: 'client', usages: ['client'] }),
    ]);
    const listener = tls.createServer({ cert: server.certPem, key: server.keyPem, ca: clients.certPem, requestCert: true, rejectUnauthorized: true });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const accepted = once(listener, 'secureConnection') as Promise<[tls.TLSSocket]>;
    const { port } = listener.address() as AddressInfo;
    const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ca: servers.certPem, cert: client.certPem, key: client.keyPem });
    await once(socket, 'secureConnect');
    const [peer] = await accepted;
    assert.equal(peer.getPeerCertificate().subject.CN, 'client');
    socket.destroy();
    peer.destroy();
    listener.close();
    await once(listener, 'close');
  });
});
