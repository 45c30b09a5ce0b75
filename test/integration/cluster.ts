import assert from 'node:assert/strict';
import path from 'node:path';
import type { Child } from '../../hack/controlplane/child.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { Kubectl } from '../../hack/local/kubectl.ts';
import { installProduct, serverKubeconfig, serverProcess, waitAvailable } from '../../hack/local/product.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { ownControlPlane, sharedControlPlane } from './shared.ts';

/** A control plane with the product installed and one server running behind its kube-apiserver. */
export interface Cluster {
  controlPlane: ControlPlane;
  kubectl: Kubectl;
  server: Child;
  port: number;
  /** Of the server's own ServiceAccount. */
  serverKubeconfig: string;
  /** Starts a second server, beside the one that the APIServices point at. @returns its port */
  startReplica: (args?: readonly string[]) => Promise<{ port: number; replica: Child }>;
}

/** Most tests keep tenants in namespaces of their own, which belong to no tenant. */
const anywhere = ['--require-parent=false'];

let shared: Promise<Cluster> | undefined;
let front: ((cluster: Cluster) => Promise<void>) | undefined;

/** Has something put in front of the shared cluster's server before anybody gets it: its tests then go through that. */
export const putInFront = (put: (cluster: Cluster) => Promise<void>): void => {
  assert.equal(shared, undefined, 'the shared cluster is in use already');
  front = put;
};

/** The cluster that the tests of this process share. */
export const sharedCluster = (): Promise<Cluster> => {
  shared ??= sharedControlPlane()
    .then((controlPlane) => clusterOn(controlPlane))
    .then(async (cluster) => {
      await front?.(cluster);
      return cluster;
    });
  return shared;
};

/** A cluster for tests that stop servers. @param serverArgs further flags of the server */
export const ownCluster = async (options: Parameters<typeof ownControlPlane>[0] = {}, serverArgs: readonly string[] = []): Promise<Cluster> =>
  clusterOn(await ownControlPlane(options), serverArgs);

/**
 * A cluster for tests that compare: its server has issued the serving certificate, and writes nothing to objects any more.
 * @param serverArgs further flags of that server
 */
export const quietCluster = async (options: Parameters<typeof ownControlPlane>[0] = {}, serverArgs: readonly string[] = []): Promise<Cluster> => {
  const cluster = await ownCluster(options);
  const { controlPlane, port, serverKubeconfig: kubeconfig } = cluster;
  await cluster.server.stop();
  const server = serverProcess({ controlPlane, port, kubeconfig, logFile: path.join(controlPlane.directory, 'logs', 'tenant-apiserver-quiet.log'), args: ['--run-loop=false', ...anywhere, ...serverArgs] });
  atEnd(() => server.stop('SIGKILL'));
  await server.start();
  await waitAvailable(controlPlane);
  return { ...cluster, server };
};

const clusterOn = async (controlPlane: ControlPlane, serverArgs: readonly string[] = []): Promise<Cluster> => {
  const [port] = (await freePorts(1)) as [number];
  await installProduct(controlPlane, port);
  const kubeconfig = await serverKubeconfig(controlPlane);
  const started = async (at: number, name: string, args: readonly string[]): Promise<Child> => {
    const logFile = path.join(controlPlane.directory, 'logs', `${name}.log`);
    const child = serverProcess({ controlPlane, port: at, kubeconfig, logFile, args: [...anywhere, ...args], log: (line) => console.log(`  ${line}`) });
    atEnd(() => child.stop('SIGKILL'));
    await child.start();
    return child;
  };
  const server = await started(port, 'tenant-apiserver', serverArgs);
  await waitAvailable(controlPlane);
  return {
    controlPlane,
    kubectl: new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath),
    server,
    port,
    serverKubeconfig: kubeconfig,
    startReplica: async (args = []) => {
      const [other] = (await freePorts(1)) as [number];
      return { port: other, replica: await started(other, `tenant-apiserver-${other}`, args) };
    },
  };
};

let namespaces = 0;

/** A namespace of its own for a test; it is not waited for that it goes. */
export const makeNamespace = async ({ kubectl }: Cluster, prefix = 'test'): Promise<string> => {
  namespaces += 1;
  const name = `${prefix}-${process.pid}-${namespaces}`;
  await kubectl.run(['create', 'namespace', name]);
  await eventually(`namespace ${name} has its ServiceAccount`, async () => (await kubectl.try(['get', 'serviceaccount', 'default', '-n', name])).code === 0);
  return name;
};
