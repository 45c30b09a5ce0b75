import { parse } from 'yaml';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways, type TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import { tenantGatewayRecords, tenantRecords } from '../../api/records/v1alpha1/records.ts';
import { startLoop, type Loop } from '../../cmd/tenant-apiserver/loop.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { crdDocuments, type CrdSet } from '../../hack/crds/crds.ts';
import { applyManifests } from '../../hack/manifests/apply.ts';
import { eventPermissions, leasePermissions } from '../../pkg/controller/permissions.ts';
import { silentLog } from '../../pkg/controller/log.ts';
import { issuancePermissions } from '../../pkg/gateway/issuance/permissions.ts';
import { gatewaySecretPermissions, secretsRole } from '../../pkg/gateway/secrets/permissions.ts';
import { gatewayPermissions } from '../../pkg/gateway/permissions.ts';
import type { GatewaySettings } from '../../pkg/gateway/settings.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { RecordStore } from '../../pkg/storage/records/store.ts';
import { cleanupFinalizer } from '../../pkg/tenant/names.ts';
import { tenantPermissions } from '../../pkg/tenant/permissions.ts';
import { eventually } from '../poll.ts';

const electionOptions = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 300 };
const group = 'gateway.networking.k8s.io';
/** As the manifests name the server: policies know it by that. */
const loopUser = 'system:serviceaccount:cozy-system:tenant-apiserver';
const loopCrds = new Set(['gateways.gateway.networking.k8s.io', 'httproutes.gateway.networking.k8s.io', 'issuers.cert-manager.io', 'certificates.cert-manager.io']);

/** A control plane with the loop on it, which runs under its own permissions and no more; the tests act as administrator. */
export class LoopWorld {
  readonly admin: KubeClient;
  readonly loopClient: KubeClient;
  readonly tenants: RecordStore;
  readonly gateways: RecordStore;
  #loops: Loop[] = [];

  /** @param underPolicies whether what policies refuse is refused, as in a real installation, or reaches the loop */
  static async create(controlPlane: ControlPlane, { underPolicies = true } = {}): Promise<LoopWorld> {
    const user = await controlPlane.clientAuthority.issue({ commonName: loopUser, organizations: ['system:serviceaccounts:cozy-system'], usages: ['client'] });
    const [admin, loop] = await Promise.all(
      [controlPlane.kubeconfigPath, await controlPlane.kubeconfigFor(user, 'loop')].map(async (file) => new KubeClient(await loadRestConfig(file), 'loop-test')),
    );
    const world = new LoopWorld(admin!, loop!);
    await applyManifests({ kubectlPath: controlPlane.kubectlPath, kubeconfigPath: controlPlane.kubeconfigPath, overlay: 'policies', only: () => underPolicies });
    await world.#install();
    world.tenants.start();
    world.gateways.start();
    return world;
  }

  private constructor(admin: KubeClient, loopClient: KubeClient) {
    this.admin = admin;
    this.loopClient = loopClient;
    const common = { client: loopClient, namespace: 'cozy-system', identity: 'loop-test', onError: () => undefined };
    this.tenants = new RecordStore({ ...common, definition: tenants, record: tenantRecords, fenceSpec: {} });
    this.gateways = new RecordStore({ ...common, definition: tenantGateways, record: tenantGatewayRecords, fenceSpec: { apex: 'fence.invalid' } });
  }

  startLoop(identity: string, gatewaySettings?: GatewaySettings): Loop {
    const loop = startLoop({ gatewaySettings, client: this.loopClient, tenants: this.tenants, gateways: this.gateways, identity, log: silentLog, electionOptions });
    this.#loops.push(loop);
    return loop;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all([this.tenants.stop(), this.gateways.stop()]);
    this.admin.close();
    this.loopClient.close();
  }

  post(collection: string, body: object): Promise<KubeObject> {
    return this.admin.json<KubeObject>({ method: 'POST', path: collection, body });
  }

  patch(object: string, body: object): Promise<KubeObject> {
    return this.admin.json<KubeObject>({ method: 'PATCH', path: object, contentType: 'application/merge-patch+json', body });
  }

  delete(object: string): Promise<unknown> {
    return this.admin.json({ method: 'DELETE', path: object });
  }

  /** Undefined where it does not exist. */
  async find<T extends KubeObject = KubeObject>(object: string): Promise<T | undefined> {
    const { status, body } = await this.admin.request({ path: object });
    return status === 200 ? (JSON.parse(body.toString('utf8')) as T) : undefined;
  }

  async list(collection: string): Promise<KubeObject[]> {
    return (await this.admin.json<{ items: KubeObject[] }>({ path: collection })).items;
  }

  createTenant(namespace: string, name: string, spec: object = {}): Promise<KubeObject> {
    const object = { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name, finalizers: [cleanupFinalizer] }, spec };
    return this.tenants.create(object, { fieldManager: 'test' });
  }

  async changeTenant(namespace: string, name: string, spec: object): Promise<void> {
    const object = { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name }, spec };
    await this.tenants.apply(object, { fieldManager: 'test', force: true });
  }

  deleteTenant(namespace: string, name: string): Promise<unknown> {
    return this.tenants.delete(namespace, name, {});
  }

  tenantSays(namespace: string, name: string, reason: string): Promise<Tenant> {
    return eventually(`tenant ${namespace}/${name} says ${reason}`, async () => {
      const tenant = (await this.tenants.get(namespace, name)) as unknown as Tenant;
      return ready(tenant.status?.conditions)?.reason === reason && tenant;
    });
  }

  gatewaySays(namespace: string, name: string, reason: string): Promise<TenantGateway> {
    return eventually(`gateway ${namespace}/${name} says ${reason}`, async () => {
      const gateway = (await this.gateways.get(namespace, name)) as unknown as TenantGateway;
      return ready(gateway.status?.conditions)?.reason === reason && gateway;
    });
  }

  createRoute(namespace: string, name: string, gateway: string, hostnames: string[]): Promise<KubeObject> {
    const [gatewayNamespace, gatewayName] = gateway.split('/');
    return this.post(`/apis/${group}/v1/namespaces/${namespace}/httproutes`, {
      apiVersion: `${group}/v1`,
      kind: 'HTTPRoute',
      metadata: { name },
      spec: { parentRefs: [{ name: gatewayName, namespace: gatewayNamespace }], hostnames, rules: [{ backendRefs: [{ name: 'app', port: 80 }] }] },
    });
  }

  /** Those of a set that most tests need: each takes the kube-apiserver a while. `more` are names of others. */
  async installCrds(set: CrdSet, more: readonly string[] = []): Promise<void> {
    const documents = (await crdDocuments(set)).map((text) => parse(text) as KubeObject);
    await this.#apply(documents.filter(({ metadata }) => loopCrds.has(metadata.name!) || more.includes(metadata.name!)));
  }

  async #install(): Promise<void> {
    const rules = [
      ...tenantPermissions,
      ...gatewayPermissions,
      ...issuancePermissions,
      ...eventPermissions,
      ...leasePermissions,
      { apiGroups: ['records.cozystack.io'], resources: ['*'], verbs: ['*'] }, // the store's, which is not under test here
    ];
    const rbac = 'rbac.authorization.k8s.io';
    await this.post(`/apis/${rbac}/v1/clusterroles`, { metadata: { name: 'loop' }, rules });
    await this.post(`/apis/${rbac}/v1/clusterroles`, { metadata: { name: secretsRole }, rules: gatewaySecretPermissions });
    await this.post(`/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: 'loop' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'loop' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: loopUser }],
    });
    await this.post('/api/v1/namespaces', { metadata: { name: 'cozy-system' } });
    await this.post('/api/v1/namespaces', { metadata: { name: 'tenant-root', labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' } } });
  }

  async #apply(crds: KubeObject[]): Promise<void> {
    const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const crd of crds) {
      await this.admin.json({ method: 'PATCH', path: `${collection}/${crd.metadata.name}`, query: { fieldManager: 'test', force: true }, contentType: 'application/apply-patch+yaml', body: crd });
    }
    for (const { metadata } of crds) {
      await eventually(`${metadata.name} is established`, async () => {
        const crd = await this.find<KubeObject & { status?: { conditions?: Condition[] } }>(`${collection}/${metadata.name}`);
        return crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
      });
    }
  }
}

const ready = <C extends { type: string }>(conditions: readonly C[] | undefined): C | undefined => conditions?.find(({ type }) => type === 'Ready');
