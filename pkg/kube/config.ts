import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';

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

/** The parts of a kubeconfig that a server's identity may need (client-go's clientcmd/api/v1). */
interface Kubeconfig {
  'current-context'?: string;
  contexts?: { name: string; context?: { cluster?: string; user?: string } }[];
  clusters?: {
    name: string;
    cluster?: {
      server?: string;
      'certificate-authority'?: string;
      'certificate-authority-data'?: string;
      'insecure-skip-tls-verify'?: boolean;
      'tls-server-name'?: string;
    };
  }[];
  users?: {
    name?: string;
    user?: {
      token?: string;
      tokenFile?: string;
      'client-certificate'?: string;
      'client-certificate-data'?: string;
      'client-key'?: string;
      'client-key-data'?: string;
      exec?: unknown;
      'auth-provider'?: unknown;
    };
  }[];
}

/** Token files are written anew as they rotate (bound ServiceAccount tokens): how long one reading is good for. */
const tokenFileTtlMs = 10_000;
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads a kubeconfig, or the pod's own ServiceAccount where no path is given. Relative paths in it are taken from its folder.
 * @throws Error for an unreadable file, no current context, or a user that needs a plugin
 */
export const loadRestConfig = (kubeconfigPath?: string): Promise<RestConfig> =>
  kubeconfigPath ? fromKubeconfig(kubeconfigPath) : inCluster(serviceAccountFolder, process.env);

const fromKubeconfig = async (file: string): Promise<RestConfig> => {
  const config = (parse(await readFile(file, 'utf8')) ?? {}) as Kubeconfig;
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster;
  const entry = context?.user ? config.users?.find(({ name }) => name === context.user) : {}; // a webhook may ask for no credentials
  const user = entry && (entry.user ?? {});
  if (!cluster?.server || !user) throw new Error(`kubeconfig ${file}: there is no current context with a cluster and a user`);
  if (user.exec || user['auth-provider']) {
    throw new Error(`kubeconfig ${file}: users with a plugin are not supported; use a token, a token file or a client certificate`);
  }
  const folder = path.dirname(path.resolve(file));
  const pem = async (data: string | undefined, named: string | undefined): Promise<string | undefined> => {
    if (data) return Buffer.from(data, 'base64').toString('utf8');
    return named ? readFile(path.resolve(folder, named), 'utf8') : undefined;
  };
  return {
    server: new URL(cluster.server),
    serverName: cluster['tls-server-name'],
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] ?? false,
    ca: await pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: await pem(user['client-certificate-data'], user['client-certificate']),
    key: await pem(user['client-key-data'], user['client-key']),
    token: user.tokenFile ? tokenFromFile(path.resolve(folder, user.tokenFile)) : () => Promise.resolve(user.token),
  };
};

/** As every pod finds its cluster. @throws Error outside of one */
export const inCluster = async (folder: string, environment: NodeJS.ProcessEnv): Promise<RestConfig> => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) throw new Error('not in a pod: name a kubeconfig with --kubeconfig');
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    insecureSkipVerify: false,
    ca: await readFile(path.join(folder, 'ca.crt'), 'utf8'),
    token: tokenFromFile(path.join(folder, 'token')),
  };
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
