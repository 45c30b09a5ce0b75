import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { Kubectl } from '../../hack/local/kubectl.ts';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { customResourceDefinition } from '../../pkg/endpoints/documents/crd.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { atEnd } from '../lifecycle.ts';
import { clientAt } from '../integration/client.ts';
import { ownControlPlane } from '../integration/shared.ts';
import { auditedName, directName, proxyName } from './hop-report.ts';
import { isWantedServer, type BenchOptions } from './options.ts';
import { FrontClient, startAuditProxy } from './proxied.ts';
import { startAuditedServer, startFloorServer, startSampleApiserver, startTenantApiserver, type AggregatedServer, type TenantServer } from './servers.ts';
import {
  bodyOf, concurrently, createObject, deleteObject, floorNames, flunderNames, flunderSpec, gatewaySpec, keyOf, namespaces, twinNames, type Subject,
} from './subject.ts';

/** The servers that are compared, behind one kube-apiserver. */
export interface World {
  controlPlane: ControlPlane;
  tenantServer: TenantServer;
  sampleServer: AggregatedServer;
  /** Those that keep objects of their own. */
  subjects: readonly Subject[];
  /** tenant-apiserver without the kube-apiserver in front, where that is asked for: the same objects once more. */
  direct: Subject | undefined;
  /** The same at a server that records every request, where that is asked for. */
  audited: Subject | undefined;
  /** The same behind audit-proxy, where that is asked for. */
  proxied: Subject | undefined;
  /** What any server on Node costs that does the same, where that is asked for: for the operations on one object. */
  floor: Subject | undefined;
}

export const startWorld = async ({ direct, proxy, audit, floor, profileDirectory }: BenchOptions): Promise<World> => {
  const controlPlane = await ownControlPlane();
  const kubectl = new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath);
  const crd = customResourceDefinition(twinNames);
  const objects = [...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })), crd];
  await kubectl.run(['apply', '--server-side', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) });
  const tenantServer = await startTenantApiserver(controlPlane, profileDirectory);
  const sampleServer = await startSampleApiserver(controlPlane);
  const floorServer = floor ? await startFloorServer(controlPlane, tenantServer.kubeconfig) : undefined;
  const auditedServer = audit ? await startAuditedServer(controlPlane, tenantServer.kubeconfig) : undefined;
  const auditProxy = proxy ? await startAuditProxy(controlPlane, tenantServer.port) : undefined;
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', `crd/${crd.metadata.name}`], { timeoutMs: 70_000 });

  const front = async (): Promise<KubeClient> => closedAtEnd(new KubeClient(await loadRestConfig(controlPlane.kubeconfigPath), 'bench'));
  const servedBy = (serving: () => number) => () => ({ serving: serving(), kubeApiserver: controlPlane.pidOf('kube-apiserver')!, etcd: controlPlane.pidOf('etcd')! });
  const ours = servedBy(() => tenantServer.child.pid!);
  const gateways = { spec: gatewaySpec, padding: '' };
  const subjects: Subject[] = [
    { ...gateways, name: 'tenant-apiserver', names: tenantGateways, client: await front(), processes: ours },
    { ...gateways, name: 'CRD', names: twinNames, client: await front(), processes: servedBy(() => controlPlane.pidOf('kube-apiserver')!) },
    { spec: flunderSpec, padding: '', name: 'sample-apiserver', names: flunderNames, client: await front(), processes: servedBy(() => sampleServer.child.pid!) },
  ];
  await padAlike(subjects);
  return {
    controlPlane,
    tenantServer,
    sampleServer,
    subjects,
    direct: direct ? { ...subjects[0]!, name: directName, client: closedAtEnd(clientAt(tenantServer.port, controlPlane.admin)) } : undefined,
    audited: auditedServer && {
      ...subjects[0]!,
      name: auditedName,
      client: closedAtEnd(clientAt(auditedServer.port, controlPlane.admin)),
      processes: servedBy(() => auditedServer.child.pid!),
    },
    proxied: auditProxy && {
      ...subjects[0]!,
      name: proxyName,
      client: closedAtEnd(new FrontClient(auditProxy.port, controlPlane.frontProxy.client)),
      processes: servedBy(() => auditProxy.child.pid!),
    },
    floor: floorServer && { ...subjects[0]!, name: 'bare Node', names: floorNames, client: await front(), processes: servedBy(() => floorServer.pid!) },
  };
};

const closedAtEnd = (client: KubeClient): KubeClient => {
  atEnd(() => client.close());
  return client;
};

/** An annotation takes as much by itself, so that a smaller difference is left. */
const paddingOverhead = 100;

/** Objects differ in what a kind has of fields: the smaller are padded, with words that compress about as well. */
const padAlike = async (subjects: readonly Subject[]): Promise<void> => {
  const sizeOf = async (subject: Subject): Promise<number> => {
    const key = keyOf(0, 'sized');
    const created = await createObject(subject, key, 0);
    await deleteObject(subject, key);
    return Buffer.byteLength(JSON.stringify(created));
  };
  const words = JSON.stringify(bodyOf(subjects[0]!, keyOf(0), 0)).replaceAll(/\W+/g, ' ').repeat(8);
  const sizes = await Promise.all(subjects.map(sizeOf));
  const largest = Math.max(...sizes);
  for (const [index, subject] of subjects.entries()) {
    const missing = largest - sizes[index]!;
    if (missing < paddingOverhead) continue;
    subject.padding = words.slice(0, missing);
    subject.padding = words.slice(0, Math.max(1, missing + largest - (await sizeOf(subject))));
  }
};

/** Makes the objects with the numbers from `from` to below `to`, in every server that is measured. Throws where that takes too long. */
export const load = async ({ subjects }: World, from: number, to: number, options: BenchOptions, deadline: number): Promise<void> => {
  for (const subject of subjects) {
    if (!isWantedServer(options, subject.name)) continue;
    const began = performance.now();
    await concurrently(to - from, (index) => {
      if (performance.now() > deadline) throw new Error(`time was up when ${from + index} of ${to} objects were made in ${subject.name}: see --minutes`);
      return createObject(subject, keyOf(from + index), from + index);
    });
    const seconds = (performance.now() - began) / 1000;
    console.log(`  ${to - from} objects made in ${subject.name}: ${Math.round((to - from) / seconds)} a second, 16 at a time`);
  }
};
