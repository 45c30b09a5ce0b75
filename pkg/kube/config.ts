import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';

/** Where a kube-apiserver is and who we are to it. PEM strings; `token` gives the bearer token that is valid now. */
export interface RestConfig {
  server: URL;
  serverName?: string;
  insecureSkipVerify: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  token: () => Promise<string | undefined>;
}

/** Token files are written anew as they rotate (bound ServiceAccount tokens): how long one reading is good for. */
const tokenFileTtlMs = 10_000;

/**
 * Reads a kubeconfig, or the pod's own ServiceAccount where no path is given.
 * Errors: an unreadable file, no current cluster, or a user that needs a plugin.
 */
export const loadRestConfig = async (kubeconfigPath?: string): Promise<RestConfig> => {
  const config = new KubeConfig();
  if (kubeconfigPath) config.loadFromFile(kubeconfigPath);
  else config.loadFromCluster();
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (!cluster || !user) throw new Error(`kubeconfig ${kubeconfigPath ?? '(in cluster)'} has no current context with a cluster and a user`);
  if (user.exec) throw new Error(`kubeconfig ${kubeconfigPath ?? ''}: users with an exec plugin are not supported; use a token, a token file or a client certificate`);
  const tokenFile = user.authProvider?.config?.tokenFile ?? (user as { tokenFile?: string }).tokenFile;
  return {
    server: new URL(cluster.server),
    serverName: cluster.tlsServerName,
    insecureSkipVerify: cluster.skipTLSVerify ?? false,
    ca: await pem(cluster.caData, cluster.caFile),
    cert: await pem(user.certData, user.certFile),
    key: await pem(user.keyData, user.keyFile),
    token: tokenFile ? tokenFromFile(tokenFile) : () => Promise.resolve(user.token),
  };
};

const pem = async (base64: string | undefined, file: string | undefined): Promise<string | undefined> => {
  if (base64) return Buffer.from(base64, 'base64').toString('utf8');
  return file ? readFile(file, 'utf8') : undefined;
};

const tokenFromFile = (file: string): (() => Promise<string>) => {
  let reading: Promise<string> | undefined;
  let readAt = 0;
  return () => {
    if (!reading || Date.now() - readAt > tokenFileTtlMs) {
      readAt = Date.now();
      reading = readFile(file, 'utf8').then((text) => text.trim());
      reading.catch(() => (reading = undefined));
    }
    return reading;
  };
};
