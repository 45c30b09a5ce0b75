import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ProgramOptions } from '../../cmd/tenant-apiserver/options.ts';
import { startServer } from '../../cmd/tenant-apiserver/run.ts';
import { Kubectl } from '../../hack/local/kubectl.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { silentLog } from '../../pkg/controller/log.ts';
import { customResourceDefinition } from '../../pkg/endpoints/documents/crd.ts';
import { createAuthority } from '../../pkg/server/certificates.ts';
import { cleanupFinalizer } from '../../pkg/tenant/names.ts';
import { quietCluster, type Cluster } from '../integration/cluster.ts';
import { atEnd } from '../lifecycle.ts';
import { eventually } from '../poll.ts';
import { gadgets, gadgetStrategy } from './gadget.ts';
import { kinds, twinOf } from './sides.ts';

/** A control plane with our servers and the twins. Nothing on it writes to objects of either but the cases themselves. */
export interface World {
  cluster: Cluster;
  /** Ports of a second server for our kinds. */
  replicaPort: number;
}

let world: Promise<World> | undefined;

export const contractWorld = (): Promise<World> => {
  world ??= build();
  return world;
};

const build = async (): Promise<World> => {
  const cluster = await quietCluster();
  const [, , { port: replicaPort }] = await Promise.all([installTwins(cluster), serveGadgets(cluster), cluster.startReplica(['--run-loop=false'])]);
  await eventually('all kinds are served', async () => {
    const definitions = Object.values(kinds).flatMap((definition) => [definition, twinOf(definition)]);
    const answers = await Promise.all(definitions.map(({ group, version, plural }) => cluster.controlPlane.request({ path: `/apis/${group}/${version}/${plural}` })));
    return answers.every(({ status }) => status === 200);
  });
  // A policy learns of new kinds after a while, and refuses their objects until then.
  const { group, version, plural, kind } = twinOf(kinds.tenant);
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'probe' } };
  await eventually('the finalizer policy knows the twins', async () => (await cluster.controlPlane.request({ method: 'POST', path: `/apis/${group}/${version}/namespaces/default/${plural}?dryRun=All`, body })).status === 201);
  return { cluster, replicaPort };
};

/** The finalizer that our admission gives a Tenant, given to its twin by the kube-apiserver's own admission. */
const finalizerPolicy = (): object[] => {
  const { group, version, plural } = twinOf(kinds.tenant);
  const name = `finalizer.${group}`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [group], apiVersions: [version], operations: ['CREATE'], resources: [plural] }] },
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: `has(object.metadata.finalizers) ? (object.metadata.finalizers.exists(f, f == "${cleanupFinalizer}") ? [] : [JSONPatch{op: "add", path: "/metadata/finalizers/-", value: "${cleanupFinalizer}"}]) : [JSONPatch{op: "add", path: "/metadata/finalizers", value: ["${cleanupFinalizer}"]}]`,
            },
          },
        ],
      },
    },
    { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
  ];
};

/** The twins of our kinds, each a custom resource that the kube-apiserver serves. */
export const installTwins = async ({ kubectl }: Cluster): Promise<void> => {
  const crds = Object.values(kinds).map((definition) => customResourceDefinition(twinOf(definition)));
  await apply(kubectl, [...crds, ...finalizerPolicy()]);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', ...crds.map(({ metadata }) => `crd/${metadata.name}`)], { timeoutMs: 70_000 });
};

const apply = async (kubectl: Kubectl, items: readonly object[]): Promise<void> => {
  await kubectl.run(['apply', '--server-side', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
};

/** A server of this process for the kind that is there for tests alone. */
const serveGadgets = async ({ controlPlane, kubectl }: Cluster): Promise<void> => {
  const crd = customResourceDefinition({ ...gadgets, ...gadgetStrategy.record } as typeof gadgets);
  await apply(kubectl, [crd]);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', `crd/${crd.metadata.name}`], { timeoutMs: 70_000 });
  const [port] = (await freePorts(1)) as [number];
  const { server } = await startServer(await gadgetServerConfig(controlPlane.directory, controlPlane.kubeconfigPath, port), [gadgetStrategy], silentLog);
  atEnd(() => server.stop());
  await eventually('the gadgets are served', () => server.notReady() === undefined);
  const { group, version } = gadgets;
  const name = 'gadgets';
  await apply(kubectl, [
    { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'cozy-system', name }, spec: { type: 'ExternalName', externalName: 'localhost' } },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 15, insecureSkipTLSVerify: true, service: { namespace: 'cozy-system', name, port } },
    },
  ]);
};

const gadgetServerConfig = async (directory: string, kubeconfig: string, port: number): ReturnType<ProgramOptions['complete']> => {
  const authority = await createAuthority({ commonName: 'gadgets' });
  const { certPem, keyPem } = await authority.issue({ commonName: 'localhost', dnsNames: ['localhost'], usages: ['server'] });
  const [certFile, keyFile] = [path.join(directory, 'gadgets.crt'), path.join(directory, 'gadgets.key')];
  await Promise.all([writeFile(certFile, certPem), writeFile(keyFile, keyPem)]);
  const options = new ProgramOptions();
  Object.assign(options.server, { bindAddress: '127.0.0.1', port, kubeconfig, certFile, keyFile, runLoop: false });
  return options.complete();
};
