import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Authority, createAuthority, type KeyPair, type KeyType } from '../../pkg/server/certificates.ts';

/** The one common name that the kube-apiserver's front proxy certificate carries and that aggregated servers trust. */
export const frontProxyName = 'front-proxy-client';

/** Every certificate of a control plane. */
export interface Pki {
  /** Signs the serving certificates. */
  servers: Authority;
  /** Signs users' client certificates. */
  clients: Authority;
  /** Signs the front proxy's client certificate only. */
  frontProxies: Authority;
  serving: KeyPair;
  frontProxy: KeyPair;
  admin: KeyPair;
  controllerManager: KeyPair;
  /** The files that the components read, each an absolute path. */
  files: PkiFiles;
}

export interface PkiFiles {
  serversCa: string;
  clientsCa: string;
  frontProxiesCa: string;
  servingCert: string;
  servingKey: string;
  frontProxyCert: string;
  frontProxyKey: string;
  serviceAccountKey: string;
  serviceAccountPublicKey: string;
}

/** Issues everything anew into `folder`, but keeps an earlier ServiceAccount key, for tokens that are still around. */
export const createPki = async (folder: string, frontProxyKeyType: KeyType): Promise<Pki> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [servers, clients, frontProxies] = await Promise.all([
    createAuthority({ commonName: 'controlplane-servers' }),
    createAuthority({ commonName: 'controlplane-clients' }),
    createAuthority({ commonName: 'controlplane-front-proxies', keyType: frontProxyKeyType }),
  ]);
  const [serving, frontProxy, admin, controllerManager] = await Promise.all([
    servers.issue({
      commonName: 'kube-apiserver',
      usages: ['server'],
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
      ipAddresses: ['127.0.0.1'],
    }),
    frontProxies.issue({ commonName: frontProxyName, usages: ['client'] }),
    clients.issue({ commonName: 'admin', organizations: ['system:masters'], usages: ['client'] }),
    clients.issue({ commonName: 'system:kube-controller-manager', usages: ['client'] }),
  ]);
  const write = async (name: string, content: string): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, content, { mode: 0o600 });
    return file;
  };
  const serviceAccount = await serviceAccountKeys(folder);
  const files: PkiFiles = {
    serversCa: await write('servers-ca.crt', servers.certPem),
    clientsCa: await write('clients-ca.crt', clients.certPem),
    frontProxiesCa: await write('front-proxies-ca.crt', frontProxies.certPem),
    servingCert: await write('serving.crt', serving.certPem),
    servingKey: await write('serving.key', serving.keyPem),
    frontProxyCert: await write('front-proxy.crt', frontProxy.certPem),
    frontProxyKey: await write('front-proxy.key', frontProxy.keyPem),
    serviceAccountKey: await write('service-account.key', serviceAccount.privateKey),
    serviceAccountPublicKey: await write('service-account.pub', serviceAccount.publicKey),
  };
  return { servers, clients, frontProxies, serving, frontProxy, admin, controllerManager, files };
};

const serviceAccountKeys = async (folder: string): Promise<{ privateKey: string; publicKey: string }> => {
  try {
    const [privateKey, publicKey] = await Promise.all(['service-account.key', 'service-account.pub'].map((name) => readFile(path.join(folder, name), 'utf8')));
    if (privateKey && publicKey) return { privateKey, publicKey };
  } catch {
    // a new folder
  }
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });
};
