import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { Child } from '../../hack/controlplane/child.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { call } from '../../hack/controlplane/request.ts';
import { Kubectl } from '../../hack/local/kubectl.ts';
import { installProduct, serverEnvironment, serverKubeconfig, serverProcess, waitAvailable } from '../../hack/local/product.ts';
import { sampleApiserver } from '../../hack/sample-apiserver/build.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { flagOf } from './processes.ts';
import { Profiler } from './profiler.ts';
import { floorNames } from './subject.ts';

/** An aggregated server as a process of its own. */
export interface AggregatedServer {
  port: number;
  child: Child;
  /** Resolves once the kube-apiserver passes requests on to it. */
  reachable: () => Promise<void>;
}

export interface HeapUsage {
  heapMb: number;
  rssMb: number;
}

export interface TenantServer extends AggregatedServer {
  /** A kubeconfig of its ServiceAccount, the only one that may write records. */
  kubeconfig: string;
  /** heapUsed + external after a forced collection, and what stays resident. */
  heap: () => Promise<HeapUsage>;
  /** Absent where no profiles are wanted. */
  profiler: Profiler | undefined;
}

const tenantMain = path.resolve(import.meta.dirname, '../../cmd/tenant-apiserver/main.ts');
const floorMain = path.join(import.meta.dirname, 'floor-server.ts');
const memoryProbe = path.join(import.meta.dirname, 'memory-probe.ts');

const readyAt = (port: number) => async (): Promise<boolean> =>
  (await call({ url: `https://127.0.0.1:${port}`, trustAnyServer: true, credentials: { anonymous: true } }, { path: '/readyz' })).status === 200;

const listensAt = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** Installs the product, and starts it without its loop, which would make a Gateway of each object. */
export const startTenantApiserver = async (controlPlane: ControlPlane, profileDirectory: string | undefined): Promise<TenantServer> => {
  const [port, inspectorPort] = (await freePorts(2)) as [number, number];
  await installProduct(controlPlane, port);
  const kubeconfig = await serverKubeconfig(controlPlane);
  const logFile = path.join(controlPlane.directory, 'logs', 'tenant-apiserver.log');
  // The serving certificate is issued by the loop's leader, once.
  const issuer = serverProcess({ controlPlane, port, kubeconfig, logFile });
  atEnd(() => issuer.stop('SIGKILL'));
  await issuer.start();
  await waitAvailable(controlPlane);
  await issuer.stop();

  const memoryFile = path.join(controlPlane.directory, 'memory.json');
  const child = new Child({
    name: 'tenant-apiserver',
    executable: process.execPath,
    args: [
      '--expose-gc', `--import=file://${memoryProbe}?file=${encodeURIComponent(memoryFile)}`,
      ...(profileDirectory ? [`--inspect=127.0.0.1:${inspectorPort}`] : []),
      tenantMain, '--bind-address=127.0.0.1', `--secure-port=${port}`, `--kubeconfig=${kubeconfig}`, '--run-loop=false',
    ],
    environment: serverEnvironment,
    logFile,
    ready: readyAt(port),
    log: console.log,
  });
  atEnd(() => child.stop('SIGKILL'));
  await child.start();
  const reachable = (): Promise<void> => reached(controlPlane, '/apis/gateway.cozystack.io/v1alpha1/tenantgateways?limit=1');
  await reachable();
  const heap = async (): Promise<HeapUsage> => {
    await rm(memoryFile, { force: true });
    process.kill(child.pid!, 'SIGUSR2');
    const text = await eventually('tenant-apiserver tells its memory', () => readFile(memoryFile, 'utf8').catch(() => undefined));
    const { heapUsed, external, rss } = JSON.parse(text) as NodeJS.MemoryUsage;
    return { heapMb: (heapUsed + external) / 2 ** 20, rssMb: rss / 2 ** 20 };
  };
  return { port, child, reachable, kubeconfig, heap, profiler: profileDirectory ? new Profiler(profileDirectory, inspectorPort) : undefined };
};

/** Starts a second tenant-apiserver beside the first, which records every request at level Metadata. */
export const startAuditedServer = async (controlPlane: ControlPlane, kubeconfig: string): Promise<{ port: number; child: Child }> => {
  const [port] = (await freePorts(1)) as [number];
  const logs = path.join(controlPlane.directory, 'logs');
  const policy = path.join(controlPlane.directory, 'metadata-policy.yaml');
  await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }));
  const args = ['--run-loop=false', `--audit-policy-file=${policy}`, `--audit-log-path=${path.join(logs, 'tenant-apiserver-events.log')}`];
  const child = serverProcess({ controlPlane, port, kubeconfig, logFile: path.join(logs, 'tenant-apiserver-audited.log'), args });
  atEnd(() => child.stop('SIGKILL'));
  await child.start();
  return { port, child };
};

/** Builds and starts sample-apiserver, which keeps its objects in the control plane's etcd itself. */
export const startSampleApiserver = async (controlPlane: ControlPlane): Promise<AggregatedServer> => {
  const executable = await sampleApiserver(console.log);
  const [port] = (await freePorts(1)) as [number];
  const { directory, kubeconfigPath, kubectlPath } = controlPlane;
  const child = new Child({
    name: 'sample-apiserver',
    executable,
    args: [
      '--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${path.join(directory, 'sample-apiserver')}`,
      `--etcd-servers=${flagOf(controlPlane.pidOf('kube-apiserver')!, 'etcd-servers')}`,
      ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${kubeconfigPath}`),
    ],
    logFile: path.join(directory, 'logs', 'sample-apiserver.log'),
    ready: readyAt(port),
    log: console.log,
  });
  atEnd(() => child.stop('SIGKILL'));
  await child.start();
  await new Kubectl(kubectlPath, kubeconfigPath).run(['apply', '-f', '-'], { input: JSON.stringify(registration('wardle', 'wardle.example.com', port)) });
  const reachable = (): Promise<void> => reached(controlPlane, '/apis/wardle.example.com/v1alpha1/flunders?limit=1');
  await reachable();
  return { port, child, reachable };
};

/** Starts the bare server, with the identity of tenant-apiserver: it writes the same records. */
export const startFloorServer = async (controlPlane: ControlPlane, kubeconfig: string): Promise<Child> => {
  const [port] = (await freePorts(1)) as [number];
  const { directory, kubeconfigPath, kubectlPath } = controlPlane;
  const child = new Child({
    name: 'bare Node server',
    executable: process.execPath,
    args: [floorMain, String(port), kubeconfig],
    logFile: path.join(directory, 'logs', 'floor-server.log'),
    ready: () => listensAt(port),
    log: console.log,
  });
  atEnd(() => child.stop('SIGKILL'));
  await child.start();
  await new Kubectl(kubectlPath, kubeconfigPath).run(['apply', '-f', '-'], { input: JSON.stringify(registration('bare', floorNames.group, port)) });
  await reached(controlPlane, `/apis/${floorNames.group}/v1alpha1`);
  return child;
};

/** A namespace, a Service that leads to this machine, and an APIService of version v1alpha1. */
const registration = (namespace: string, group: string, port: number): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'api', namespace }, spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] } },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1alpha1.${group}` },
      spec: {
        group,
        version: 'v1alpha1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        insecureSkipTLSVerify: true,
        service: { name: 'api', namespace, port },
      },
    },
  ],
});

/** One answer does not tell that the front has done with an outage: it may be one of before. */
const reached = (controlPlane: ControlPlane, request: string): Promise<void> =>
  eventually(`the kube-apiserver answers ${request}`, async () => {
    for (let count = 0; count < 3; count += 1) if ((await controlPlane.request({ path: request })).status !== 200) return false;
    return true;
  }, { withinMs: 60_000 }).then(() => undefined);
