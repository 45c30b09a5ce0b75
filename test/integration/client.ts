import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject, Status } from '../../api/meta/v1/types.ts';
import { tenantGatewayRecords, tenantRecords } from '../../api/records/v1alpha1/records.ts';
import { KubeClient, type KubeStream, type Query } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import type { KeyPair } from '../../pkg/server/certificates.ts';
import { resourcePath, type ResourceNames } from '../../pkg/storage/names.ts';
import type { Cluster } from './cluster.ts';

type PathOf = (namespace?: string, name?: string, subresource?: string) => string;
const pathOf = (names: ResourceNames): PathOf => (...parts) => resourcePath(names, ...parts);

export const tenantPath = pathOf(tenants);
export const tenantRecordPath = pathOf(tenantRecords);
export const gatewayPath = pathOf(tenantGateways);
export const gatewayRecordPath = pathOf(tenantGatewayRecords);

const userAgent = 'integration-test';

/** Straight at a server on this machine, past the kube-apiserver. */
export const clientAt = (port: number, { certPem, keyPem }: KeyPair): KubeClient =>
  new KubeClient({ server: new URL(`https://127.0.0.1:${port}`), insecureSkipVerify: true, cert: certPem, key: keyPem, token: () => Promise.resolve(undefined) }, userAgent);

export interface Clients {
  /** The administrator at the kube-apiserver, which passes requests for tenants on. */
  front: KubeClient;
  /** The server's own ServiceAccount at the kube-apiserver: the only one that may write records. */
  records: KubeClient;
  /** The administrator at the first server itself. */
  server: KubeClient;
  close(): void;
}

export const clientsOf = async ({ controlPlane, serverKubeconfig, port }: Cluster): Promise<Clients> => {
  const [front, records] = await Promise.all([controlPlane.kubeconfigPath, serverKubeconfig].map(async (file) => new KubeClient(await loadRestConfig(file), userAgent)));
  const server = clientAt(port, controlPlane.admin);
  return { front: front!, records: records!, server, close: () => [front!, records!, server].forEach((client) => client.close()) };
};

export const create = (client: KubeClient, path: string, body: object): Promise<KubeObject> => client.json<KubeObject>({ method: 'POST', path, body });

export const patch = (client: KubeClient, path: string, body: object): Promise<KubeObject> =>
  client.json<KubeObject>({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });

/** Tenant root, whether another test has made it or not. */
export const applyRoot = (client: KubeClient, spec: object = {}): Promise<KubeObject> =>
  client.json<KubeObject>({ method: 'PATCH', path: tenantPath('tenant-root', 'root'), query: { fieldManager: 'test', force: true }, contentType: 'application/apply-patch+yaml', body: { ...tenantNamed('root'), spec } });

/** Undefined where it does not exist. */
export const find = async (client: KubeClient, path: string): Promise<KubeObject | undefined> => {
  const { status, body } = await client.request({ path });
  if (status === 200) return JSON.parse(body.toString('utf8')) as KubeObject;
  if (status === 404) return undefined;
  throw new Error(`GET ${path}: ${status} ${body.toString('utf8')}`);
};

export const tenantNamed = (name: string, rest: object = {}): object => ({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { name, ...rest } });
export const tenantRecordNamed = (name: string, rest: object = {}): object => ({ apiVersion: 'records.cozystack.io/v1alpha1', kind: 'TenantRecord', metadata: { name, ...rest }, spec: {} });

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject & Status;
}

/** An open watch that keeps what it is told. */
export class Watch {
  readonly events: WatchEvent[] = [];
  /** Resolves when the stream is over, however it came to that. */
  readonly over: Promise<void>;
  isOver = false;
  readonly #stream: KubeStream;

  static async open(client: KubeClient, path: string, query: Query = {}, headers?: Record<string, string>): Promise<Watch> {
    return new Watch(await client.stream({ path, query: { watch: true, ...query }, headers }));
  }

  private constructor(stream: KubeStream) {
    this.#stream = stream;
    this.over = this.#read();
  }

  close(): void {
    this.#stream.close();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of this.#stream.lines) this.events.push(JSON.parse(line.toString('utf8')) as WatchEvent);
    } catch {
      // cut off: what came until then counts
    }
    this.isOver = true;
  }
}
