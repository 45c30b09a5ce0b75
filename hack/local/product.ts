import path from 'node:path';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import { Child } from '../controlplane/child.ts';
import { call } from '../controlplane/request.ts';
import { crdDocuments, crdSets } from '../crds/crds.ts';
import { applyManifests } from '../manifests/apply.ts';
import { Kubectl } from './kubectl.ts';

/** Where the product runs. */
export const namespace = 'cozy-system';
const serviceAccount = 'tenant-apiserver';
const tokenSeconds = 7 * 24 * 3600;
const main = path.resolve(import.meta.dirname, '../../cmd/tenant-apiserver/main.ts');

/** The APIServices that the product registers. */
export const apiServices = ['v1alpha1.apps.cozystack.io', 'v1alpha1.gateway.cozystack.io'];

/** The CustomResourceDefinitions of others that the product works with: Gateway API and cert-manager. */
export const foreignCrds = async (): Promise<string[]> => (await Promise.all(crdSets.map((set) => crdDocuments(set)))).flat();

/** Installs CustomResourceDefinitions, each a YAML document. */
export const installForeignCrds = async ({ kubectlPath, kubeconfigPath }: ControlPlane, documents: readonly string[]): Promise<void> => {
  await new Kubectl(kubectlPath, kubeconfigPath).run(['apply', '--server-side', '-f', '-'], { input: documents.join('\n---\n') });
};

/** Installs the manifests for servers that listen on a port of this machine. */
export const installManifests = async ({ kubectlPath, kubeconfigPath }: ControlPlane, port: number): Promise<void> => {
  await applyManifests({ kubectlPath, kubeconfigPath, overlay: 'overlays/local', port });
};

/** Installs CRDs and manifests for servers that listen on a port of this machine; the first of them is to be started next. */
export const installProduct = async (controlPlane: ControlPlane, port: number): Promise<void> => {
  await installForeignCrds(controlPlane, await foreignCrds());
  await installManifests(controlPlane, port);
};

/** A token of a ServiceAccount in the product's namespace, good for a week. */
export const serviceAccountToken = async (controlPlane: ControlPlane, account: string): Promise<string> => {
  const answer = await controlPlane.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: tokenSeconds } },
  });
  if (answer.status !== 201) throw new Error(`no token for ServiceAccount ${account}: ${answer.text}`);
  return answer.json<{ status: { token: string } }>().status.token;
};

/** A kubeconfig that holds a token of the very ServiceAccount that the manifests give the server. */
export const serverKubeconfig = async (controlPlane: ControlPlane, name = 'tenant-apiserver'): Promise<string> =>
  controlPlane.kubeconfigFor({ token: await serviceAccountToken(controlPlane, serviceAccount) }, name);

/**
 * As the image sets it. Most of what a server makes for a request is garbage at once, and a small young generation is as good as
 * a large one for that; several arenas of malloc would keep what threads of the pool have given back.
 */
export const serverEnvironment = { NODE_OPTIONS: '--max-semi-space-size=4', MALLOC_ARENA_MAX: '2' } as const;

export interface ServerProcessOptions {
  controlPlane: ControlPlane;
  port: number;
  kubeconfig: string;
  logFile: string;
  args?: readonly string[];
  log?: (line: string) => void;
}

/** A tenant-apiserver as a process of its own, ready when its /readyz says so. */
export const serverProcess = ({ port, kubeconfig, logFile, args = [], log }: ServerProcessOptions): Child =>
  new Child({
    name: 'tenant-apiserver',
    executable: process.execPath,
    args: [main, '--bind-address=127.0.0.1', `--secure-port=${port}`, `--kubeconfig=${kubeconfig}`, ...args],
    environment: serverEnvironment,
    logFile,
    ready: async () => (await call({ url: `https://127.0.0.1:${port}`, trustAnyServer: true, credentials: { anonymous: true } }, { path: '/readyz' })).status === 200,
    log,
  });

/** Resolves once the kube-apiserver reaches the server through both APIServices. */
export const waitAvailable = async (controlPlane: ControlPlane): Promise<void> => {
  const kubectl = new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath);
  await kubectl.run(['wait', '--for=condition=Available', '--timeout=60s', ...apiServices.map((name) => `apiservice/${name}`)], { timeoutMs: 70_000 });
};
