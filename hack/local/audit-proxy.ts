import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Child } from '../controlplane/child.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import { call } from '../controlplane/request.ts';
import { applyManifests, renderManifests, type Manifest } from '../manifests/apply.ts';
import { installManifests, namespace, serverEnvironment, serviceAccountToken } from './product.ts';

const name = 'audit-proxy';
const overlay = 'overlays/local-audit-proxy';
const main = path.resolve(import.meta.dirname, '../../cmd/audit-proxy/main.ts');

/** Who the proxy is to the kube-apiserver and to its backend. */
export const proxyAccount = `system:serviceaccount:${namespace}:${name}`;

const isProxys = ({ metadata }: Manifest): boolean => metadata.labels?.['app.kubernetes.io/name'] === name;

/** Installs the proxy's own objects: nobody is sent to it yet. */
export const installProxy = async ({ kubectlPath, kubeconfigPath }: ControlPlane): Promise<void> => {
  await applyManifests({ kubectlPath, kubeconfigPath, overlay, only: isProxys });
};

/** Has the kube-apiserver send both APIServices to a proxy on a port of this machine. */
export const handOver = async ({ kubectlPath, kubeconfigPath }: ControlPlane, proxyPort: number): Promise<void> => {
  await applyManifests({ kubectlPath, kubeconfigPath, overlay, port: proxyPort });
};

/** Has it send them to the server itself again. */
export const handBack = installManifests;

/** What a kubelet would put into the proxy's pod. */
export interface ProxyFiles {
  config: string;
  token: string;
  backendCa: string;
  kubeconfig: string;
}

/** Writes the config of the manifests, a token of the proxy's ServiceAccount, and the authority that signed the server's certificate. */
export const proxyFiles = async (controlPlane: ControlPlane): Promise<ProxyFiles> => {
  const { directory, kubectlPath } = controlPlane;
  const [objects, token, secret] = await Promise.all([
    renderManifests(kubectlPath, overlay),
    serviceAccountToken(controlPlane, name),
    controlPlane.request({ path: `/api/v1/namespaces/${namespace}/secrets/tenant-apiserver-serving` }),
  ]);
  if (secret.status !== 200) throw new Error(`the server has no serving certificate yet: ${secret.text}`);
  const config = objects.find((object) => object.kind === 'ConfigMap' && isProxys(object))!.data!['config.yaml']!;
  const ca = Buffer.from(secret.json<{ data: Record<string, string> }>().data['ca.crt']!, 'base64').toString('utf8');
  const files = { config: path.join(directory, `${name}.yaml`), token: path.join(directory, `${name}.token`), backendCa: path.join(directory, `${name}-backend-ca.crt`) };
  await Promise.all([writeFile(files.config, config), writeFile(files.token, token), writeFile(files.backendCa, ca)]);
  return { ...files, kubeconfig: await controlPlane.kubeconfigFor({ token }, name) };
};

export interface ProxyProcessOptions {
  files: ProxyFiles;
  port: number;
  metricsPort: number;
  serverPort: number;
  /** Gets each event as a line. */
  auditLog: string;
  logFile: string;
  /** More flags; of two alike the last counts. */
  args?: readonly string[];
  log?: (line: string) => void;
}

/** An audit-proxy as a process of its own, ready when its /readyz says so. It runs with the config of the manifests, but for places on this machine. */
export const proxyProcess = ({ files, port, metricsPort, serverPort, auditLog, logFile, args = [], log }: ProxyProcessOptions): Child =>
  new Child({
    name,
    executable: process.execPath,
    args: [
      main,
      `--config=${files.config}`,
      '--server-bind-address=127.0.0.1',
      `--server-port=${port}`,
      '--server-shutdown-delay-seconds=0',
      '--metrics-bind-address=127.0.0.1',
      `--metrics-port=${metricsPort}`,
      `--kubeconfig=${files.kubeconfig}`,
      `--backend-url=https://localhost:${serverPort}`,
      `--backend-tls-ca-file=${files.backendCa}`,
      `--backend-identity-impersonation-token-file=${files.token}`,
      `--audit-log-path=${auditLog}`,
      ...args,
    ],
    environment: serverEnvironment,
    logFile,
    ready: async () => (await call({ url: `https://127.0.0.1:${port}`, trustAnyServer: true, credentials: { anonymous: true } }, { path: '/readyz' })).status === 200,
    log,
  });
