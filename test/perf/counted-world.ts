import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { installProduct, serverKubeconfig } from '../../hack/local/product.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { ownControlPlane } from '../integration/shared.ts';
import { atEnd } from '../lifecycle.ts';
import { RequestLog } from './request-log.ts';

/** A control plane with the product installed, which counts what the server asks of it. Servers are for the caller to start: the APIServices point at `port`. */
export const countedWorld = async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'bench-'));
  atEnd(() => rm(directory, { recursive: true, force: true }));
  const { apiserverArgs, log } = await RequestLog.create(directory);
  const controlPlane = await ownControlPlane({ apiserverArgs });
  const [port] = (await freePorts(1)) as [number];
  await installProduct(controlPlane, port);
  const client = new KubeClient(await loadRestConfig(controlPlane.kubeconfigPath), 'bench');
  atEnd(() => client.close());
  return { directory, controlPlane, port, kubeconfig: await serverKubeconfig(controlPlane), client, log };
};
