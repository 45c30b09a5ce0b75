import path from 'node:path';
import { stringify } from 'yaml';
import type { TenantGateway, TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { DataPlane, prepareDataPlane } from '../../../hack/dataplane/dataplane.ts';
import { gatewayClass } from '../../../hack/dataplane/objects.ts';
import type { ParentReference } from '../../../pkg/gateway/types.ts';
import { KubeClient } from '../../../pkg/kube/client.ts';
import { loadRestConfig } from '../../../pkg/kube/config.ts';
import { ownCluster, type Cluster } from '../../integration/cluster.ts';
import { atEnd } from '../../lifecycle.ts';
import { eventually } from '../../poll.ts';
import { backend } from './backends.ts';
import { ask, type Ask, type Reply } from './client.ts';
import { TestIssuer } from './test-issuer.ts';

/** Of tenant root, whose gateway is the one that the data plane serves: two would need ports of their own. */
export const apex = 'example.org';
const gatewayPath = 'tenantgateways.gateway.cozystack.io';
const owner = 'tenant-root';
const gatewayGroup = 'gateway.networking.k8s.io';

export interface Route {
  kind?: 'HTTPRoute' | 'TLSRoute';
  namespace: string;
  name: string;
  hosts: string[];
  /** Port of the backend on loopback. */
  port: number;
  /** All paths if left out. Of two routes that a listener takes, the one with the longer path answers: so it shows whether it is taken. */
  path?: string;
  /** Tenant root's gateway if left out. */
  parents?: ParentReference[];
}

let shared: Promise<DataPlaneWorld> | undefined;

/** The world that the tests of this process share. */
export const dataPlaneWorld = (): Promise<DataPlaneWorld> => {
  shared ??= DataPlaneWorld.start();
  return shared;
};

/** The product on a control plane, with tenant root's gateway served by Envoy on this machine, and certificates by the stand-in. */
export class DataPlaneWorld {
  readonly cluster: Cluster;
  readonly issuer: TestIssuer;
  #beacons = 0;
  #beaconPort: Promise<number> | undefined;

  static async start(): Promise<DataPlaneWorld> {
    const log = (line: string): void => console.log(`  ${line}`);
    await prepareDataPlane(log);
    const cluster = await ownCluster({ controllerManagerArgs: ['--controllers=*,-deployment-controller'] }, [`--issuers=${path.join(import.meta.dirname, 'issuers.yaml')}`]);
    const dataPlane = await DataPlane.start(cluster.controlPlane, log);
    atEnd(() => dataPlane.stop());
    await dataPlane.standInFor({ namespace: owner, name: 'cozystack' });
    const client = new KubeClient(await loadRestConfig(cluster.controlPlane.kubeconfigPath), 'test-issuer');
    const issuer = await TestIssuer.start(client);
    atEnd(async () => {
      await issuer.stop();
      client.close();
    });
    const world = new DataPlaneWorld(cluster, issuer);
    await world.tenant('tenant-root', 'root', { host: apex, gateway: true });
    await eventually('tenant root has its gateway', () => world.gateway().catch(() => undefined));
    await world.setGateway({ gatewayClassName: gatewayClass, issuerName: 'for-tests' });
    return world;
  }

  private constructor(cluster: Cluster, issuer: TestIssuer) {
    this.cluster = cluster;
    this.issuer = issuer;
  }

  async apply(...objects: object[]): Promise<void> {
    await this.cluster.kubectl.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: objects.map((object) => stringify(object)).join('---\n') });
  }

  /** Makes a tenant, and waits until its namespace is there. @returns the namespace */
  async tenant(parent: string, name: string, spec: object = {}): Promise<string> {
    const namespace = name === 'root' ? owner : parent === owner ? `tenant-${name}` : `${parent}-${name}`;
    await this.apply({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: parent, name }, spec });
    await eventually(`namespace ${namespace} of tenant ${name} is attached to a gateway`, async () => {
      const { metadata } = await this.cluster.kubectl.json<KubeObject>(['get', 'namespace', namespace]);
      return Object.keys(metadata.labels ?? {}).some((key) => key.startsWith('attach.gateway.cozystack.io/'));
    });
    return namespace;
  }

  /** Tenant root's. */
  gateway(): Promise<TenantGateway> {
    return this.cluster.kubectl.json<TenantGateway>(['get', gatewayPath, 'cozystack', '-n', owner]);
  }

  /** Changes fields of its spec; null takes one away. */
  async setGateway(spec: { [Field in keyof TenantGatewaySpec]?: TenantGatewaySpec[Field] | null }): Promise<void> {
    await this.cluster.kubectl.run(['patch', gatewayPath, 'cozystack', '-n', owner, '--type=merge', '-p', JSON.stringify({ spec })]);
  }

  /** Makes a Secret beside the gateway, as an operator would who has a certificate for these names. */
  async giveCertificate(name: string, dnsNames: string[]): Promise<void> {
    const { certPem, keyPem } = await this.issuer.authority.issue({ commonName: 'of the operator', dnsNames, usages: ['server'] });
    const data = { 'tls.crt': Buffer.from(certPem).toString('base64'), 'tls.key': Buffer.from(keyPem).toString('base64') };
    await this.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: owner, name }, type: 'kubernetes.io/tls', data });
  }

  /** Publishes what listens on a port of this machine. */
  async publish(...routes: Route[]): Promise<void> {
    await this.apply(...routes.flatMap(({ kind = 'HTTPRoute', namespace, name, hosts, port, path: value, parents = [{ namespace: owner, name: 'cozystack' }] }) => [
      { apiVersion: 'gateway.envoyproxy.io/v1alpha1', kind: 'Backend', metadata: { namespace, name }, spec: { endpoints: [{ ip: { address: '127.0.0.1', port } }] } },
      {
        apiVersion: `${gatewayGroup}/v1`,
        kind,
        metadata: { namespace, name },
        spec: { parentRefs: parents, hostnames: hosts, rules: [{ ...(value !== undefined && { matches: [{ path: { type: 'PathPrefix', value } }] }), backendRefs: [{ group: 'gateway.envoyproxy.io', kind: 'Backend', name }] }] },
      },
    ]));
  }

  /** A request to a host, whose certificate has to be the stand-in's unless told otherwise. */
  ask(host: string, more: Partial<Ask> = {}): Promise<Reply> {
    return ask({ host, ca: this.issuer.authority.certPem, ...more });
  }

  /** Who answers for a host: the text of the answer; its status if that is no 200; or why there was none. */
  async whoAnswers(host: string, more: Partial<Ask> = {}): Promise<string> {
    try {
      const { status, text } = await this.ask(host, more);
      return status === 200 ? text : String(status);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    }
  }

  /** All that answer for a host, of twenty requests. */
  async whoAnswersOften(host: string, path = '/'): Promise<Set<string>> {
    return new Set(await Promise.all(Array.from({ length: 20 }, () => this.whoAnswers(host, { path }))));
  }

  /** Resolves once the data plane serves what was written before: routes are told of in the order of their writes. */
  async upToDate(namespace: string): Promise<void> {
    this.#beacons += 1;
    const [host, name] = [`beacon-${this.#beacons}.${await this.hostOf(namespace)}`, `beacon-${this.#beacons}`];
    this.#beaconPort ??= backend('the beacon');
    await this.publish({ namespace, name, hosts: [host], port: await this.#beaconPort });
    await this.answers(host, 'the beacon');
    await this.cluster.kubectl.run(['delete', 'httproute', name, '-n', namespace]);
  }

  /** The host below which a tenant publishes. */
  async hostOf(namespace: string): Promise<string> {
    const { metadata } = await this.cluster.kubectl.json<KubeObject>(['get', 'namespace', namespace]);
    return metadata.labels!['namespace.cozystack.io/host']!;
  }

  /** Resolves once a host answers with `text`. */
  answers(host: string, text: string, more: Partial<Ask> = {}): Promise<Reply> {
    return this.answersWith(host, text, () => true, more);
  }

  /** Resolves once a host answers with `text`, and the answer is as wanted otherwise. */
  async answersWith(host: string, text: string, isWanted: (reply: Reply) => boolean, more: Partial<Ask> = {}): Promise<Reply> {
    let last = '';
    const probe = async (): Promise<Reply | undefined> => {
      try {
        const reply = await this.ask(host, more);
        last = `${reply.status} ${reply.text} (${reply.certificate?.subjectAltName})`;
        return reply.status === 200 && reply.text === text && isWanted(reply) ? reply : undefined;
      } catch (error) {
        last = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
        return undefined;
      }
    };
    return eventually(`${host} answers ${text}`, probe).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; last: ${last}`, { cause: error });
    });
  }
}
