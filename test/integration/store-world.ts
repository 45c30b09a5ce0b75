import type { KubeClient } from '../../pkg/kube/client.ts';
import { clientAt, clientsOf, type Clients } from './client.ts';
import { makeNamespace, sharedCluster, type Cluster } from './cluster.ts';

/** What tests of the store need: the shared cluster with a second server, and a namespace of their own. */
export interface StoreWorld {
  cluster: Cluster;
  clients: Clients;
  /** The administrator at the second server itself. */
  replicaClient: KubeClient;
  namespace: string;
  /** Stops the second server and has the namespace deleted. */
  leave(): Promise<void>;
}

export const sharedStoreWorld = async (prefix: string): Promise<StoreWorld> => {
  const cluster = await sharedCluster();
  const clients = await clientsOf(cluster);
  const { port, replica } = await cluster.startReplica(['--run-loop=false']);
  const replicaClient = clientAt(port, cluster.controlPlane.admin);
  const namespace = await makeNamespace(cluster, prefix);
  return {
    cluster, clients, replicaClient, namespace,
    leave: async () => {
      await clients.front.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
      replicaClient.close();
      clients.close();
      await replica.stop();
    },
  };
};
