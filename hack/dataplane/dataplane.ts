import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { Child } from '../controlplane/child.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import { call } from '../controlplane/request.ts';
import { Kubectl } from '../local/kubectl.ts';
import { findEnvoy } from './envoy.ts';
import { envoyGatewayCrds, findEnvoyGateway } from './envoy-gateway.ts';
import { fixedFolder, occupy } from './fixed-certificates.ts';
import { missingForDataPlane } from './needs.ts';
import { configuration, homesBelow, namespace, objects, standIns } from './objects.ts';

const run = promisify(execFile);

/** Checks what the machine has, and gets Envoy and Envoy Gateway where they are not there yet. Throws with all that is missing. */
export const prepareDataPlane = async (log: (line: string) => void): Promise<void> => {
  const missing = await missingForDataPlane();
  if (missing.length > 0) throw new Error(`a data plane cannot run here:\n${missing.map((fault) => `- ${fault}`).join('\n')}`);
  await findEnvoy(log);
  await findEnvoyGateway(log);
};

/** Envoy Gateway and its Envoy on this machine, which serve the Gateways of one control plane on ports 80 and 443. */
export class DataPlane {
  readonly logFile: string;
  readonly #kubectl: Kubectl;
  readonly #child: Child;
  readonly #putBack: () => Promise<void>;

  /** What the machine has is not checked; Gateway API's CustomResourceDefinitions have to be there. Resolves once Envoy Gateway is ready; Envoy starts with the first Gateway. */
  static async start(controlPlane: ControlPlane, log: (line: string) => void): Promise<DataPlane> {
    const [envoy, executable] = [await findEnvoy(log), await findEnvoyGateway(log)];
    const directory = path.join(controlPlane.directory, 'dataplane');
    const homes = homesBelow(directory);
    await run(executable, ['certgen', '--local', '--config-home', homes.configHome]);
    const bin = path.join(homes.dataHome, 'envoy-versions', envoy.version, 'bin');
    await mkdir(bin, { recursive: true });
    await symlink(envoy.executable, path.join(bin, 'envoy'));
    const config = path.join(directory, 'envoy-gateway.yaml');
    await writeFile(config, configuration(directory));

    const read = (file: string): Promise<string> => readFile(path.join(homes.configHome, 'certs', file), 'latin1');
    const [ca, cert, key, hmac] = await Promise.all(['envoy/ca.crt', 'envoy/tls.crt', 'envoy/tls.key', 'envoy-oidc-hmac/hmac-secret'].map(read)) as [string, string, string, string];
    const kubectl = new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath);
    const apply = (documents: readonly string[]): Promise<string> => kubectl.run(['apply', '--server-side', '-f', '-'], { input: documents.join('\n---\n') });
    await apply([...(await envoyGatewayCrds()), stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })]);
    await kubectl.run(['wait', '--for=condition=Established', '--timeout=50s', 'crd/envoyproxies.gateway.envoyproxy.io']);
    await apply(objects(envoy.version, { ca, cert, key, hmac }).map((object) => stringify(object)));

    const ofServer = await Promise.all(['ca.crt', 'tls.crt', 'tls.key'].map(async (name) => [name, await read(`envoy-gateway/${name}`)]));
    const putBack = await occupy(fixedFolder, Object.fromEntries(ofServer) as Record<string, string>);
    const dataPlane = new DataPlane(controlPlane, executable, config, putBack, log);
    await dataPlane.#child.start().catch(async (error: unknown) => {
      await putBack();
      throw error;
    });
    return dataPlane;
  }

  private constructor(controlPlane: ControlPlane, executable: string, config: string, putBack: () => Promise<void>, log: (line: string) => void) {
    this.logFile = path.join(controlPlane.directory, 'logs', 'envoy-gateway.log');
    this.#kubectl = new Kubectl(controlPlane.kubectlPath, controlPlane.kubeconfigPath);
    this.#putBack = putBack;
    this.#child = new Child({
      name: 'envoy-gateway',
      executable,
      args: ['server', '--config-path', config],
      environment: { KUBECONFIG: controlPlane.kubeconfigPath, ENVOY_GATEWAY_NAMESPACE: namespace },
      logFile: this.logFile,
      ready: async () => (await call({ url: 'http://127.0.0.1:8081', credentials: { anonymous: true } }, { path: '/readyz' })).status === 200,
      log,
    });
  }

  /** Has a Gateway that is not there yet be called programmed. The deployment controller must not run: no pod does. */
  async standInFor(gateway: { namespace: string; name: string }): Promise<void> {
    const objects = standIns(gateway);
    await this.#kubectl.run(['apply', '--server-side', '-f', '-'], { input: objects.map((object) => stringify(object)).join('---\n') });
    const status = { availableReplicas: 1, readyReplicas: 1, replicas: 1 };
    await this.#kubectl.run(['patch', 'deployment', objects[1]!.metadata.name!, '-n', namespace, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
  }

  /** Ends Envoy Gateway and its Envoys, and puts back what was at the fixed path. */
  async stop(): Promise<void> {
    await this.#child.stop();
    await this.#putBack();
  }
}
