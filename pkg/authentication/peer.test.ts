import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { makeAuthority, makeCertificate, makeClient } from './certificate-fixtures.ts';
import { peerCertificatesOf } from './peer.ts';

const root = makeAuthority({ commonName: 'root' });
const middle = makeAuthority({ commonName: 'middle', issuer: root });
const client = makeClient(middle);
const server = makeCertificate({ commonName: 'localhost' });

describe('peerCertificatesOf', () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] satisfies tls.SecureVersion[]) {
    it(`gives the whole chain again when a ${maxVersion} session is resumed`, async () => {
      const seen: { reused: boolean; subjects: string[]; same: boolean }[] = [];
      const listener = tls.createServer({ cert: server.certPem, key: server.keyPem, requestCert: true, rejectUnauthorized: false, maxVersion }, (socket) => {
        const certificates = peerCertificatesOf({ socket });
        seen.push({ reused: socket.isSessionReused(), subjects: certificates.map(({ subject }) => subject), same: peerCertificatesOf({ socket }) === certificates });
        socket.end('.');
      });
      listener.listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as AddressInfo;
      let session: Buffer | undefined;
      for (let times = 0; times < 2; times += 1) {
        const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, cert: client.certPem + middle.certPem, key: client.keyPem, session });
        socket.on('session', (ticket: Buffer) => (session = ticket)).resume();
        await once(socket, 'close');
      }
      listener.close();
      const subjects = ['CN=client', 'CN=middle'];
      assert.deepEqual(seen, [{ reused: false, subjects, same: true }, { reused: true, subjects, same: true }]);
    });
  }

  it('gives none without TLS or without connection', () => {
    assert.deepEqual(peerCertificatesOf({ socket: {} }), []);
    assert.deepEqual(peerCertificatesOf({}), []);
    assert.deepEqual(peerCertificatesOf({ stream: {}, socket: undefined }), []);
  });
});
