import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { Credentials } from './request.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Writes a kubeconfig that holds everything in itself, readable by its owner only. */
export const writeKubeconfig = (file: string, { url, caPem, credentials }: { url: string; caPem: string; credentials: Credentials }): Promise<void> => {
  const user = 'certPem' in credentials
    ? { 'client-certificate-data': base64(credentials.certPem), 'client-key-data': base64(credentials.keyPem) }
    : 'token' in credentials ? { token: credentials.token } : {};
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'controlplane', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'controlplane', context: { cluster: 'controlplane', user: 'user' } }],
    'current-context': 'controlplane',
  };
  return writeFile(file, stringify(config), { mode: 0o600 });
};
