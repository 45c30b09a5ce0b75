import { createHash, type X509Certificate } from 'node:crypto';
import type { Authenticator } from './authenticator.ts';
import { fieldsOf } from './certificate-fields.ts';
import type { UserInfo } from './user.ts';
import { peerVerifier, type TrustAnchors } from './x509.ts';

/** The user is the common name of a verified client certificate, its groups the organizations. `config` gives the roots that count now. */
export const clientCertificateAuthenticator = (config: () => TrustAnchors | undefined, now: () => number = Date.now): Authenticator => {
  const verify = peerVerifier('clientAuth', now);
  const users = new WeakMap<X509Certificate, UserInfo | undefined>();
  return {
    // oxlint-disable-next-line require-await
    async authenticate({ peerCertificates }) {
      const anchors = config();
      const peer = anchors ? peerCertificates() : [];
      const [leaf] = peer;
      if (!anchors || !leaf) return undefined;
      verify(peer, anchors);
      if (!users.has(leaf)) users.set(leaf, userOf(leaf));
      return users.get(leaf);
    },
  };
};

const userOf = (certificate: X509Certificate): UserInfo | undefined => {
  const { commonName, organizations, uids } = fieldsOf(certificate);
  if (commonName === '') return undefined;
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids[0] === '') throw new Error('UID cannot be an empty string');
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    username: commonName,
    ...(uids[0] && { uid: uids[0] }),
    groups: organizations,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
};
