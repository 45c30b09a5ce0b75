import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../hack/controlplane/child.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { freePorts } from '../../hack/controlplane/ports.ts';
import { installProduct, serverKubeconfig, serverProcess, waitAvailable } from '../../hack/local/product.ts';
import type { Tenant, TenantSpec } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeList, KubeObject } from '../../api/meta/v1/types.ts';
import { collectionPath } from '../../pkg/controller/apply.ts';
import { secretsRole } from '../../pkg/gateway/secrets/permissions.ts';
import { KubeClient } from '../../pkg/kube/client.ts';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { inheritAlong } from '../../pkg/tenant/inheritance.ts';
import { lineageOf, namespaceOf, tenantOf } from '../../pkg/tenant/names.ts';
import { lineOf, nodeOf } from '../../pkg/tenant/observe.ts';
import { partKinds, partResources, type PartKind } from '../../pkg/tenant/part.ts';
import { partsOf } from '../../pkg/tenant/parts.ts';
import { defaultTenantSettings } from '../../pkg/tenant/settings.ts';
import { gatewayPath, tenantNamed, tenantPath } from '../integration/client.ts';
import { ownControlPlane } from '../integration/shared.ts';
import { atEnd } from '../lifecycle.ts';
import { RequestLog } from '../perf/request-log.ts';
import { eventually } from '../poll.ts';

const rounds = 4;
const editsEach = 8;
const deepest = 4;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

/** Mulberry32: the same numbers for the same seed, from 0 up to 1. */
const randomBy = (state: number) => (): number => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

// The real process, killed while it writes. What is then there is held against what the pure functions say of the tree that was asked for.
describe(`a leader that is killed at any point (SEED=${seed})`, function () {
  this.timeout(300_000);
  const random = randomBy(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  let controlPlane: ControlPlane;
  let client: KubeClient;
  let log: RequestLog;
  let startLeader: () => Promise<Child>;
  let leader: Child;
  let count = 0;
  /** The tree that was asked for, by `namespace/name`. */
  const wanted = new Map<string, TenantSpec>();

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    const directory = await mkdtemp(path.join(tmpdir(), 'leader-'));
    atEnd(() => rm(directory, { recursive: true, force: true }));
    const logged = await RequestLog.create(directory);
    log = logged.log;
    controlPlane = await ownControlPlane({ apiserverArgs: logged.apiserverArgs });
    const [port] = (await freePorts(1)) as [number];
    await installProduct(controlPlane, port);
    const kubeconfig = await serverKubeconfig(controlPlane);
    const server = (at: number, name: string, args: readonly string[]): Child => {
      const child = serverProcess({ controlPlane, port: at, kubeconfig, logFile: path.join(controlPlane.directory, 'logs', `${name}.log`), args });
      atEnd(() => child.stop('SIGKILL'));
      return child;
    };
    const first = server(port, 'issuing', []); // its loop issues the serving certificate
    await first.start();
    await waitAvailable(controlPlane);
    await first.stop();
    await server(port, 'serving', ['--run-loop=false']).start();
    await waitAvailable(controlPlane);
    client = new KubeClient(await loadRestConfig(controlPlane.kubeconfigPath), 'leader-test');
    startLeader = async () => {
      const [at] = (await freePorts(1)) as [number];
      const child = server(at, `leader-${(count += 1)}`, []);
      await child.start();
      return child;
    };
    leader = await startLeader();
    await create('tenant-root', 'root', { host: 'example.org' });
    for (const name of ['a', 'b', 'c']) await create('tenant-root', name, {});
    await eventually('the tree is there', isAsWanted, { withinMs: 60_000 });
  });
  after(() => client?.close());

  const create = async (namespace: string, name: string, spec: TenantSpec): Promise<void> => {
    await client.json({ method: 'POST', path: tenantPath(namespace), body: { ...tenantNamed(name), spec } });
    wanted.set(`${namespace}/${name}`, spec);
  };
  const split = (key: string): [string, string] => key.split('/') as [string, string];
  const ownOf = (key: string): string => namespaceOf(...split(key));
  const isRootKey = (key: string): boolean => key === 'tenant-root/root';

  const randomSpec = (name: string): TenantSpec => ({ ...(random() < 0.3 && { gateway: true }), ...(random() < 0.2 && { host: `${name}.test` }), ...(random() < 0.3 && { schedulingClass: 'fast' }) });
  const edit = async (there: readonly string[]): Promise<void> => {
    const choice = random();
    const key = pick(there.filter((each) => wanted.has(each)));
    const own = ownOf(key);
    if (choice < 0.55 && lineageOf(own).length <= deepest) {
      const name = `n${(count += 1)}`;
      return create(own, name, randomSpec(name));
    }
    if (isRootKey(key)) return;
    const [namespace, name] = split(key);
    if (choice < 0.8) {
      const spec = randomSpec(name);
      await client.json({ method: 'PATCH', path: tenantPath(namespace, name), contentType: 'application/merge-patch+json', body: { spec: { gateway: null, host: null, schedulingClass: null, ...spec } } });
      wanted.set(key, spec);
      return;
    }
    await client.json({ method: 'PATCH', path: tenantPath(namespace, name), contentType: 'application/merge-patch+json', body: { metadata: { annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } } } });
    await client.json({ method: 'DELETE', path: tenantPath(namespace, name) });
    for (const each of wanted.keys()) if (each === key || ownOf(each).startsWith(`${own}-`)) wanted.delete(each);
  };

  const tenantsNow = async (): Promise<Tenant[]> => (await client.json<KubeList>({ path: tenantPath(), timeoutMs: 60_000 })).items as unknown as Tenant[];
  const managed = async (collection: string): Promise<KubeObject[]> => {
    const { status, body } = await client.request({ path: collection, query: { labelSelector: 'app.kubernetes.io/managed-by=tenant-apiserver' } });
    return status === 404 ? [] : (JSON.parse(body.toString('utf8')) as KubeList).items;
  };
  const keysOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);

  /** All that tenants should have, by kind; what depends on where the kube-apiserver is, or is their gateways', aside. */
  const expected = (tenants: readonly Tenant[]): Record<string, string[]> => {
    const byKey = new Map(tenants.map((tenant) => [`${tenant.metadata.namespace}/${tenant.metadata.name}`, tenant]));
    const above = (namespace: string): Tenant | undefined => {
      const key = tenantOf(namespace);
      return key && byKey.get(`${key.namespace}/${key.name}`);
    };
    const parts = tenants.flatMap((tenant) => {
      const own = ownOf(`${tenant.metadata.namespace}/${tenant.metadata.name}`);
      const context = { tenant, namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own, uid: 'any' } }, ancestors: lineageOf(own).slice(0, -1), inherited: inheritAlong(lineOf(tenant, above).map(nodeOf).toReversed()) };
      return partsOf(context, { settings: defaultTenantSettings, hasPublicNamespace: false, missing: new Set<PartKind>(['module', 'ciliumPolicy', 'ciliumClusterPolicy']), handedDown: { values: {} }, platform: { values: {} }, apiServer: { addresses: [], ports: [] } });
    });
    const hosts = tenants.filter(({ spec }) => spec?.gateway).map((tenant) => ownOf(`${tenant.metadata.namespace}/${tenant.metadata.name}`));
    return {
      namespaces: tenants.map((tenant) => `/${ownOf(`${tenant.metadata.namespace}/${tenant.metadata.name}`)}`),
      gateways: hosts.map((namespace) => `${namespace}/cozystack`),
      ...Object.fromEntries(partKinds.map((what) => [what, keysOf(parts.filter((part) => part.what === what).map(({ desired }) => desired))])),
    };
  };

  /** Undefined while anything is missing, left over, there twice or not Ready. */
  const isAsWanted = async (): Promise<boolean> => {
    const tenants = await tenantsNow();
    if (JSON.stringify(keysOf(tenants as unknown as KubeObject[]).toSorted()) !== JSON.stringify([...wanted.keys()].toSorted())) return false;
    if (!tenants.every(({ status, metadata }) => status?.observedGeneration === metadata.generation && status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))) return false;
    const shouldBe = expected(tenants);
    const found: Record<string, string[]> = { namespaces: keysOf(await managed('/api/v1/namespaces')), gateways: keysOf(await managed(gatewayPath())) };
    for (const what of partKinds) found[what] = keysOf(await managed(collectionPath(partResources[what]))).filter((key) => !/\/(allow-to-apiserver|tenant-quota-allocated)$/.test(key) && !key.endsWith(`/${secretsRole}`));
    const sorted = (all: Record<string, string[]>): object => Object.fromEntries(Object.entries(all).map(([what, keys]) => [what, keys.filter((key) => !key.startsWith('cozy-')).toSorted()]));
    assert.deepEqual(sorted(found), sorted(shouldBe));
    return true;
  };

  for (let round = 1; round <= rounds; round += 1) {
    it(`in round ${round} leaves nothing lost and nothing doubled, once another leads`, async () => {
      const there = [...wanted.keys()];
      const doomed = leader;
      const killed = sleep(random() * 1500).then(() => doomed.stop('SIGKILL'));
      for (let each = 0; each < editsEach; each += 1) await edit(there);
      await killed;
      leader = await startLeader();
      await eventually('the tree is what was asked for', isAsWanted, { withinMs: 240_000, everyMs: 500 });
    });
  }

  it('has left to the next what is as it should be: it writes nothing', async () => {
    await leader.stop();
    leader = await startLeader();
    await eventually('nothing is written', async () => {
      await log.since();
      await sleep(5000);
      return (await log.since()).writes === 0;
    }, { withinMs: 120_000 });
  });
});
