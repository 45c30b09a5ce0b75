import { freePorts } from '../../../hack/controlplane/ports.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { installManifests, serverKubeconfig } from '../../../hack/local/product.ts';
import { tenantGatewayRecords } from '../../../api/records/v1alpha1/records.ts';
import { KubeClient } from '../../../pkg/kube/client.ts';
import { loadRestConfig } from '../../../pkg/kube/config.ts';
import { tenantGatewayStrategy } from '../../../pkg/registry/tenantgateway/strategy.ts';
import { resourcePath } from '../../../pkg/storage/names.ts';
import { fenceWriter } from '../../../pkg/storage/records/fence-object.ts';
import { ownControlPlane } from '../../integration/shared.ts';
import { measurement, type Measurement } from '../measurement.ts';
import { countCpu, IdleRates } from '../processes.ts';

const namespace = 'cozy-system';

/** One fence: the write, and its event on a watch of the records. What reads it in tenant-apiserver is not counted. */
export const measureFence = async (name: string, objects: number, controlPlane: ControlPlane, kubeconfig: string, idle: IdleRates, count: number): Promise<Measurement> => {
  const client = new KubeClient(await loadRestConfig(kubeconfig), 'bench');
  const path = resourcePath(tenantGatewayRecords, namespace);
  const write = fenceWriter({ client, record: tenantGatewayRecords, namespace, spec: tenantGatewayStrategy.minimalSpec, identity: 'bench' });
  await write(); // made where it was missing
  const stream = await client.stream({ path, query: { watch: true, resourceVersion: String(await write()) } });
  const events = stream.lines[Symbol.asyncIterator]();
  const fence = async (): Promise<number> => {
    const began = performance.now();
    const version = `"resourceVersion":"${await write()}"`;
    for (;;) {
      const event = await events.next(); // those of a server's own fences come by as well
      if (event.done) throw new Error('the watch ended before the fence came');
      if ((event.value as Buffer).includes(version)) return performance.now() - began;
    }
  };
  try {
    for (let index = 0; index < 10; index += 1) await fence();
    const kubeApiserver = controlPlane.pidOf('kube-apiserver')!;
    const counted = countCpu({ serving: kubeApiserver, kubeApiserver, etcd: controlPlane.pidOf('etcd')! }, idle);
    const walls: number[] = [];
    for (let index = 0; index < count; index += 1) walls.push(await fence());
    return measurement(name, 'kube-apiserver', objects, { cpu: counted(), count, walls });
  } finally {
    stream.close();
    client.close();
  }
};

/** The same with an etcd that waits for the disk: in a control plane of its own, which holds no objects. */
export const measureFenceWithFsync = async (name: string, count: number): Promise<Measurement> => {
  const controlPlane = await ownControlPlane({ fsync: true });
  const [port] = (await freePorts(1)) as [number];
  await installManifests(controlPlane, port);
  const idle = await IdleRates.measure([controlPlane.pidOf('kube-apiserver')!, controlPlane.pidOf('etcd')!], 3000);
  try {
    return await measureFence(name, 0, controlPlane, await serverKubeconfig(controlPlane), idle, count);
  } finally {
    await controlPlane.stop();
  }
};
