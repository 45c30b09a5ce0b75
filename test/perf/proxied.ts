import path from 'node:path';
import type { Child } from '../../hack/controlplane/child.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { installProxy, proxyFiles, proxyProcess } from '../../hack/local/audit-proxy.ts';
import { KubeClient, type KubeRequest, type KubeResponse, type KubeStream } from '../../pkg/kube/client.ts';
import { atEnd } from '../lifecycle.ts';

/** An audit-proxy in front of the measured server. The APIServices stay as they are. */
export const startAuditProxy = async (controlPlane: ControlPlane, serverPort: number): Promise<{ port: number; child: Child }> => {
  await installProxy(controlPlane);
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const logs = path.join(controlPlane.directory, 'logs');
  const child = proxyProcess({
    files: await proxyFiles(controlPlane), port, metricsPort, serverPort, auditLog: path.join(logs, 'audit.log'), logFile: path.join(logs, 'audit-proxy.log'), log: console.log,
  });
  atEnd(() => child.stop('SIGKILL'));
  await child.start();
  return { port, child };
};

/** The administrator, as the kube-apiserver would pass the requests on: with the front proxy's certificate. */
export class FrontClient extends KubeClient {
  constructor(port: number, { certPem, keyPem }: ControlPlane['frontProxy']['client']) {
    super({ server: new URL(`https://127.0.0.1:${port}`), insecureSkipVerify: true, cert: certPem, key: keyPem, token: () => Promise.resolve(undefined) }, 'bench');
  }

  override request(request: KubeRequest): Promise<KubeResponse> {
    return super.request(vouchedFor(request));
  }

  override stream(request: KubeRequest): Promise<KubeStream> {
    return super.stream(vouchedFor(request));
  }
}

const vouchedFor = (request: KubeRequest): KubeRequest => ({ ...request, headers: { ...request.headers, 'x-remote-user': 'bench', 'x-remote-group': 'system:masters' } });
