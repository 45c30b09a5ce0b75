import path from 'node:path';
import { frontProxyName, type PkiFiles } from './pki.ts';

/** What the components' command lines depend on. */
export interface Layout {
  directory: string;
  files: PkiFiles;
  controllerManagerKubeconfig: string;
  ports: { etcd: number; etcdPeer: number; apiserver: number; controllerManager: number };
}

const issuer = 'https://kubernetes.default.svc.cluster.local';

export const etcdArguments = ({ directory, ports }: Layout, fsync: boolean): string[] => [
  `--data-dir=${path.join(directory, 'etcd')}`,
  `--listen-client-urls=http://127.0.0.1:${ports.etcd}`,
  `--advertise-client-urls=http://127.0.0.1:${ports.etcd}`,
  `--listen-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
  `--initial-cluster=default=http://127.0.0.1:${ports.etcdPeer}`,
  '--quota-backend-bytes=8589934592',
  ...(fsync ? [] : ['--unsafe-no-fsync']),
];

export const apiserverArguments = ({ files, ports }: Layout): string[] => [
  `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${ports.apiserver}`,
  `--tls-cert-file=${files.servingCert}`,
  `--tls-private-key-file=${files.servingKey}`,
  '--authorization-mode=RBAC',
  `--client-ca-file=${files.clientsCa}`,
  `--requestheader-client-ca-file=${files.frontProxiesCa}`,
  `--requestheader-allowed-names=${frontProxyName}`,
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-uid-headers=X-Remote-Uid',
  `--proxy-client-cert-file=${files.frontProxyCert}`,
  `--proxy-client-key-file=${files.frontProxyKey}`,
  `--service-account-issuer=${issuer}`,
  `--service-account-key-file=${files.serviceAccountPublicKey}`,
  `--service-account-signing-key-file=${files.serviceAccountKey}`,
  '--service-cluster-ip-range=10.96.0.0/16',
  // A loopback address is not allowed in endpoints, and nobody here calls the kubernetes Service.
  '--endpoint-reconciler-type=none',
  '--profiling=false',
];

export const controllerManagerArguments = ({ directory, files, controllerManagerKubeconfig, ports }: Layout): string[] => [
  `--kubeconfig=${controllerManagerKubeconfig}`,
  `--authentication-kubeconfig=${controllerManagerKubeconfig}`,
  `--authorization-kubeconfig=${controllerManagerKubeconfig}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${ports.controllerManager}`,
  `--cert-dir=${path.join(directory, 'controller-manager')}`,
  '--leader-elect=false',
  '--use-service-account-credentials=true',
  `--service-account-private-key-file=${files.serviceAccountKey}`,
  `--root-ca-file=${files.serversCa}`,
  '--controllers=*,-node-ipam-controller,-node-lifecycle-controller,-taint-eviction-controller,-persistentvolume-attach-detach-controller',
  '--kube-api-qps=200',
  '--kube-api-burst=400',
  '--profiling=false',
];
