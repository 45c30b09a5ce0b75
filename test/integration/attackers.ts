import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { createAuthority, type CertificateRequest, type KeyPair } from '../../pkg/server/certificates.ts';
import type { Attacker } from './attacks.ts';

const hour = 3_600_000;

/** What each attacker shows. */
export const keyPairs = async ({ clientAuthority, frontProxy }: ControlPlane): Promise<Record<Attacker, KeyPair | undefined>> => {
  const { authority, client, allowedName } = frontProxy;
  const front: CertificateRequest = { commonName: allowedName, usages: ['client'] };
  const lookalike = await createAuthority({ commonName: 'front-proxy-ca' });
  return {
    nobody: undefined,
    mallory: await clientAuthority.issue({ commonName: 'mallory', usages: ['client'] }),
    impersonator: await clientAuthority.issue({ commonName: 'impersonator', usages: ['client'] }),
    front: client,
    'expired front': await authority.issue({ ...front, notBefore: new Date(Date.now() - 2 * hour), notAfter: new Date(Date.now() - hour) }),
    'future front': await authority.issue({ ...front, notBefore: new Date(Date.now() + hour) }),
    'front of another name': await authority.issue({ ...front, commonName: 'mallory' }),
    'front with a server certificate': await authority.issue({ ...front, usages: ['server'] }),
    'front by the client authority': await clientAuthority.issue(front),
    'front by an authority of the same name': await lookalike.issue(front),
  };
};
