import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { makeAuthority, makeClient, serverAuth } from './certificate-fixtures.ts';
import { clientCertificateAuthenticator } from './client-certificate.ts';
import { requestHeaderAuthenticator, type RequestHeaderConfig } from './request-header.ts';

const frontCa = makeAuthority({ commonName: 'front-proxy-ca' });
const clientCa = makeAuthority({ commonName: 'client-ca' });
const front = makeClient(frontCa, { commonName: 'front-proxy-client' });
const config: RequestHeaderConfig = {
  roots: [frontCa.certificate],
  allowedNames: ['front-proxy-client'],
  usernameHeaders: ['X-Remote-User', 'X-Other-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group', 'X-Other-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-', 'X-Other-Extra-'],
};
const asked = (peer: X509Certificate[], ...rawHeaders: string[]) => ({ rawHeaders, peerCertificates: () => peer });
const alice = ['X-Remote-User', 'alice'];

describe('requestHeaderAuthenticator', () => {
  const { authenticate, isFrontProxy } = requestHeaderAuthenticator(() => config);

  it('believes all headers of the front proxy, line by line', async () =>
    assert.deepEqual(
      await authenticate(
        asked(
          [front.certificate],
          'x-remote-user', 'alice', 'X-Remote-User', 'mallory', 'X-Remote-Uid', '7',
          'X-Other-Group', 'three', 'X-Remote-Group', 'one, and half', 'x-remote-group', '', 'X-Remote-Group', 'two',
          'X-Other-Extra-Scopes', 'late', 'X-Remote-Extra-Scopes', 'a,b', 'X-Remote-Extra-Example.org%2fK', '',
        ),
      ),
      {
        username: 'alice',
        uid: '7',
        groups: ['one, and half', 'two', 'three'],
        extra: { scopes: ['a,b', 'late'], 'example.org/k': [''] },
      },
    ));

  it('takes the next header where the first is empty', async () =>
    assert.equal((await authenticate(asked([front.certificate], 'X-Remote-User', '', 'X-Other-User', 'bob')))?.username, 'bob'));

  for (const { name, peer, headers = alice } of [
    { name: 'no certificate', peer: [] },
    { name: 'no user header', peer: [front.certificate], headers: ['X-Remote-Group', 'system:masters'] },
  ] as { name: string; peer: X509Certificate[]; headers?: string[] }[]) {
    it(`finds nobody with ${name}`, async () => assert.equal(await authenticate(asked(peer, ...headers)), undefined));
  }

  for (const { name, peer, fault } of [
    { name: "the client CA's certificate", peer: makeClient(clientCa, { commonName: 'front-proxy-client' }), fault: /unknown authority/ },
    { name: 'another name', peer: makeClient(frontCa, { commonName: 'somebody' }), fault: /subject with cn=somebody is not in the allowed list/ },
    { name: 'no name', peer: makeClient(frontCa, { commonName: undefined }), fault: /cn= is not/ },
    { name: 'a server certificate', peer: makeClient(frontCa, { commonName: 'front-proxy-client', usages: [serverAuth] }), fault: /key usage/ },
    { name: 'an expired certificate', peer: makeClient(frontCa, { commonName: 'front-proxy-client', notBefore: new Date(0), notAfter: new Date(1000) }), fault: /expired/ },
  ]) {
    it(`does not believe ${name}`, async () => {
      await assert.rejects(authenticate(asked([peer.certificate], ...alice)), fault);
      assert.equal(isFrontProxy([peer.certificate]), false);
    });
  }

  it('knows the front proxy', () => assert.equal(isFrontProxy([front.certificate]), true));

  it('believes any name where none is listed', async () => {
    const open = requestHeaderAuthenticator(() => ({ ...config, allowedNames: [] }));
    assert.equal((await open.authenticate(asked([makeClient(frontCa, { commonName: 'any' }).certificate], ...alice)))?.username, 'alice');
  });

  it('finds nobody without configuration', async () => {
    const none = requestHeaderAuthenticator(() => undefined);
    assert.equal(await none.authenticate(asked([front.certificate], ...alice)), undefined);
    assert.equal(none.isFrontProxy([front.certificate]), false);
  });

  it('goes by a changed configuration at once, on a connection that is open', async () => {
    let current: RequestHeaderConfig = config;
    const live = requestHeaderAuthenticator(() => current);
    const peer = [front.certificate];
    assert.ok(await live.authenticate(asked(peer, ...alice)));
    current = { ...config, allowedNames: ['other'] };
    await assert.rejects(live.authenticate(asked(peer, ...alice)), /allowed list/);
    current = { ...config, roots: [clientCa.certificate] };
    await assert.rejects(live.authenticate(asked(peer, ...alice)), /unknown authority/);
    current = { ...config, roots: [clientCa.certificate, frontCa.certificate], usernameHeaders: ['X-New'] };
    assert.equal((await live.authenticate(asked(peer, 'X-New', 'new')))?.username, 'new');
  });
});

describe('clientCertificateAuthenticator', () => {
  const { authenticate } = clientCertificateAuthenticator(() => ({ roots: [clientCa.certificate] }));
  const organization = '2.5.4.10';
  const uid = '1.3.6.1.4.1.57683.2';
  const user = (attributes: (readonly [string, string])[], commonName: string | undefined = 'zoë') => makeClient(clientCa, { commonName, attributes });

  it('reads user, groups, uid and the credential', async () => {
    const { certificate } = user([[organization, 'a,b'], [organization, 'c+d'], [uid, 'u-1'], ['2.5.4.3', 'not the last']]);
    assert.deepEqual(await authenticate(asked([certificate])), {
      username: 'zoë',
      uid: 'u-1',
      groups: ['a,b', 'c+d'],
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`] },
    });
  });

  it('finds nobody in a certificate without common name', async () =>
    assert.equal(await authenticate(asked([makeClient(clientCa, { commonName: undefined, attributes: [[organization, 'x']] }).certificate])), undefined));
  it('refuses two uids, and an empty one', async () => {
    await assert.rejects(authenticate(asked([user([[uid, 'a'], [uid, 'b']]).certificate])), /expected 1 UID, but found multiple: \[a b\]/);
    await assert.rejects(authenticate(asked([user([[uid, '']]).certificate])), /cannot be an empty string/);
  });
  it('refuses a certificate of another authority', () => assert.rejects(authenticate(asked([front.certificate])), /unknown authority/));
  it('finds nobody without certificate or without authority', async () => {
    assert.equal(await authenticate(asked([])), undefined);
    assert.equal(await clientCertificateAuthenticator(() => undefined).authenticate(asked([user([]).certificate])), undefined);
  });
});
