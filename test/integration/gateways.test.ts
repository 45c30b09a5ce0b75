import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import type { Certificate, Gateway, ListenerSet, Route } from '../../pkg/gateway/types.ts';
import { eventually } from '../poll.ts';
import { LoopWorld } from './loop-world.ts';
import { ownControlPlane } from './shared.ts';

const gatewayApi = '/apis/gateway.networking.k8s.io/v1';
const at = (namespace: string, plural: string, name = ''): string => `${gatewayApi}/namespaces/${namespace}/${plural}${name && `/${name}`}`;
const certManager = (namespace: string, plural: string, name: string): string => `/apis/cert-manager.io/v1/namespaces/${namespace}/${plural}/${name}`;
const namespaceAt = (name: string): string => `/api/v1/namespaces/${name}`;
const accountAt = '/api/v1/namespaces/tenant-acme/secrets/cozystack-acme-account';
const attach = (owner: string): string => `attach.gateway.cozystack.io/${owner}`;

/** On a real kube-apiserver under the policies, and without any data plane. */
describe('gateways', () => {
  let world: LoopWorld;

  before(async function () {
    this.timeout(20 * 60_000); // the control plane may have to be built
    world = await LoopWorld.create(await ownControlPlane());
    await Promise.all([
      world.installCrds('gateway-api', ['gatewayclasses', 'listenersets', 'grpcroutes', 'tlsroutes'].map((plural) => `${plural}.gateway.networking.k8s.io`)),
      world.installCrds('cert-manager'),
    ]);
    for (const name of ['cozy-cert-manager', 'cozy-dashboard', 'cozy-shared']) await world.post('/api/v1/namespaces', { metadata: { name } });
    // Somebody had an Issuer of this name before.
    await world.post('/api/v1/namespaces', { metadata: { name: 'tenant-taken', labels: { 'namespace.cozystack.io/host': 'taken.example.org' } } });
    await world.post(`/apis/cert-manager.io/v1/namespaces/tenant-taken/issuers`, { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: { name: 'cozystack-gateway' }, spec: { selfSigned: {} } });
    world.startLoop('first');
    await world.createTenant('tenant-root', 'root', { host: 'example.org', gateway: true });
    await world.createTenant('tenant-root', 'acme', { gateway: true });
    await world.tenantSays('tenant-root', 'acme', 'Reconciled');
    await world.createTenant('tenant-acme', 'dev');
    await world.createTenant('tenant-acme', 'shop', { host: 'shop.test' });
    await world.tenantSays('tenant-acme', 'shop', 'Reconciled');
  });
  after(() => world?.stop());

  const change = async (spec: object, namespace = 'tenant-acme'): Promise<void> => {
    const object = { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { namespace, name: 'cozystack' }, spec };
    await world.gateways.apply(object, { fieldManager: 'test', force: true });
  };
  const routeTo = async (kind: string, namespace: string, name: string, hostnames: string[], parentRefs: object[] = [{ name: 'cozystack', namespace: 'tenant-acme', port: 443 }]): Promise<void> => {
    const rules = kind === 'TLSRoute' ? [{ backendRefs: [{ name: 'app', port: 443 }] }] : [{ backendRefs: [{ name: 'app', port: 80 }] }];
    await world.post(at(namespace, `${kind.toLowerCase()}s`), { apiVersion: 'gateway.networking.k8s.io/v1', kind, metadata: { name }, spec: { parentRefs, hostnames, rules } });
  };
  const listeners = async (): Promise<NonNullable<Gateway['spec']>['listeners']> => (await world.find<Gateway>(at('tenant-acme', 'gateways', 'cozystack')))?.spec?.listeners ?? [];
  const said = async (namespace: string, plural: string, name: string): Promise<(string | undefined)[]> =>
    ((await world.find<Route>(at(namespace, plural, name)))?.status?.parents ?? []).map(({ conditions }) => conditions?.[0]?.reason);
  const says = (reason: string, namespace: string, plural: string, name: string): Promise<true> =>
    eventually(`${plural} ${namespace}/${name} says ${reason}`, async () => (await said(namespace, plural, name)).join() === reason || undefined);
  const conditionOf = async (type: string, namespace = 'tenant-acme'): Promise<Condition | undefined> =>
    ((await world.gateways.get(namespace, 'cozystack')) as unknown as TenantGateway).status?.conditions?.find((condition) => condition.type === type);
  const labelsOf = async (name: string): Promise<Record<string, string>> => (await world.find(namespaceAt(name)))?.metadata.labels ?? {};

  it('attach a namespace to each gateway that lists it, also one that comes late, and take back only what was written', async () => {
    await change({ attachedNamespaces: ['cozy-shared', 'cozy-dashboard', 'cozy-late'] });
    await change({ attachedNamespaces: ['cozy-shared'] }, 'tenant-root');
    await eventually('both keys are there', async () => Object.keys(await labelsOf('cozy-shared')).filter((key) => key.startsWith(attach(''))).length === 2);
    const compatible = (await labelsOf('cozy-shared'))['namespace.cozystack.io/gateway'];
    await eventually('the missing one is named', async () => (await conditionOf('Complete'))?.message.includes('cozy-late'));
    await world.post('/api/v1/namespaces', { metadata: { name: 'cozy-late', labels: { theirs: '' } } });
    await eventually('it is attached', async () => (await labelsOf('cozy-late'))[attach('tenant-acme')] === '');
    await eventually('and nothing is missing', async () => (await conditionOf('Complete'))?.status === 'True');
    assert.equal((await labelsOf('cozy-shared'))['namespace.cozystack.io/gateway'], compatible);
    await change({ attachedNamespaces: ['cozy-shared', 'cozy-dashboard', 'default'], tlsPassthroughServices: ['api'] });
    await eventually('it is detached', async () => !(attach('tenant-acme') in (await labelsOf('cozy-late'))));
    assert.deepEqual(await labelsOf('cozy-late'), { 'kubernetes.io/metadata.name': 'cozy-late', theirs: '' });
  });

  it('refuse a namespace of a tenant in the list', async () => {
    // The strategy does at admission; this is what a record that was written past it comes to.
    await change({ attachedNamespaces: ['tenant-acme-shop'] }, 'tenant-root');
    await eventually('it is named', async () => (await conditionOf('Complete', 'tenant-root'))?.message.includes('tenant-acme-shop'));
    assert.ok(!(attach('tenant-root') in (await labelsOf('tenant-acme-shop'))));
    await change({ attachedNamespaces: ['cozy-shared'] }, 'tenant-root');
  });

  it('serve hosts of three kinds of namespaces, each pinned to its own, and explain the rest on each route', async () => {
    await routeTo('HTTPRoute', 'tenant-acme', 'www', ['www.acme.example.org'], [{ name: 'cozystack' }]);
    await routeTo('HTTPRoute', 'tenant-acme-dev', 'app', ['app.dev.acme.example.org']);
    await routeTo('HTTPRoute', 'cozy-dashboard', 'dashboard', ['dashboard.acme.example.org', 'dashboard.other.test']);
    await routeTo('TLSRoute', 'default', 'api', ['api.acme.example.org'], [{ name: 'cozystack', namespace: 'tenant-acme', sectionName: 'tls-api' }]);
    await routeTo('HTTPRoute', 'tenant-acme', 'api', ['api.acme.example.org']);
    await routeTo('HTTPRoute', 'tenant-acme', 'dashboard', ['dashboard.acme.example.org']);
    await routeTo('GRPCRoute', 'tenant-acme', 'grpc', ['grpc.acme.example.org']);
    await routeTo('HTTPRoute', 'cozy-late', 'www', ['late.acme.example.org']);
    await routeTo('HTTPRoute', 'cozy-dashboard', 'open', []);
    await Promise.all([
      says('Accepted', 'tenant-acme', 'httproutes', 'www'),
      says('Accepted', 'tenant-acme-dev', 'httproutes', 'app'),
      says('HostnameNotAllowed', 'cozy-dashboard', 'httproutes', 'dashboard'),
      says('Accepted', 'default', 'tlsroutes', 'api'),
      says('HostnameNotAllowed', 'tenant-acme', 'httproutes', 'api'),
      says('HostnameConflict', 'tenant-acme', 'httproutes', 'dashboard'),
      says('NotAllowedByListeners', 'tenant-acme', 'grpcroutes', 'grpc'),
      says('NotAllowedByListeners', 'cozy-late', 'httproutes', 'www'),
      says('HostnameRequired', 'cozy-dashboard', 'httproutes', 'open'),
    ]);
    const pinned = (await listeners()).slice(1).map(({ hostname, protocol, allowedRoutes }) => [hostname, protocol, (allowedRoutes as { namespaces: { selector: { matchLabels: Record<string, string> } } }).namespaces.selector.matchLabels['kubernetes.io/metadata.name']]);
    assert.deepEqual(pinned.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)), [
      ['api.acme.example.org', 'TLS', 'default'],
      ['app.dev.acme.example.org', 'HTTPS', 'tenant-acme-dev'],
      ['dashboard.acme.example.org', 'HTTPS', 'cozy-dashboard'],
      ['www.acme.example.org', 'HTTPS', 'tenant-acme'],
    ]);
    const events = await world.list('/apis/events.k8s.io/v1/namespaces/tenant-acme/events');
    assert.ok(events.some((event) => event['reason'] === 'HostnameConflict' && (event['regarding'] as KubeObject).kind === 'HTTPRoute'));
  });

  it('keep a route that names no listener off port 80, and stop when it does', async () => {
    const redirects = async (): Promise<string[]> => (await world.list(at('tenant-acme', 'httproutes'))).map(({ metadata }) => metadata.name!).filter((name) => name.startsWith('cozystack-http-redirect'));
    await eventually('it has a redirect', async () => (await redirects()).length === 2);
    await world.patch(at('tenant-acme', 'httproutes', 'www'), { spec: { parentRefs: [{ name: 'cozystack', port: 443 }] } });
    await eventually('it has none', async () => (await redirects()).length === 1);
  });

  it('hand a host to the loser when the winner goes, and forget a route that detaches', async () => {
    await world.delete(at('cozy-dashboard', 'httproutes', 'dashboard'));
    await says('Accepted', 'tenant-acme', 'httproutes', 'dashboard');
    await world.patch(at('tenant-acme', 'httproutes', 'dashboard'), { spec: { parentRefs: null } });
    await says('', 'tenant-acme', 'httproutes', 'dashboard');
  });

  it('tell a tenant with another domain that it needs a gateway of its own', async () => {
    const conditions = async (): Promise<Condition[]> => ((await world.tenants.get('tenant-acme', 'shop'))['status'] as { conditions?: Condition[] }).conditions ?? [];
    await eventually('it is told', async () => (await conditions()).some(({ type, reason }) => type === 'HostCovered' && reason === 'OutsideApex'));
  });

  it('leave alone what they did not make, and make the rest', async () => {
    await change({ apex: 'taken.example.org' }, 'tenant-taken');
    await eventually('the Gateway is there', () => world.find(at('tenant-taken', 'gateways', 'cozystack')));
    await eventually('the Issuer is named', async () => (await conditionOf('Accepted', 'tenant-taken'))?.reason === 'NotOwned');
    assert.deepEqual((await world.find(certManager('tenant-taken', 'issuers', 'cozystack-gateway')))?.spec, { selfSigned: {} });
  });

  it('put hosts beyond 64 into ListenerSets where the class has them, and move none of those that are there', async () => {
    const parentRefs = [{ name: 'cozystack', namespace: 'tenant-acme', port: 443 }, { kind: 'ListenerSet', name: 'cozystack-1', namespace: 'tenant-acme' }];
    const routes = Array.from({ length: 5 }, (_, route) => [`many${route}`, Array.from({ length: 15 }, (_hosts, host) => `h${route}x${host}.acme.example.org`)] as const);
    for (const [name, hosts] of routes) await routeTo('HTTPRoute', 'tenant-acme', name, hosts, parentRefs);
    await eventually('hosts are left out, by name', async () => (await listeners()).length === 64 && (await conditionOf('Complete'))?.message.match(/not served: .*h\dx\d+\.acme\.example\.org/));
    const before = (await listeners()).map(({ name }) => name);
    await world.post(`${gatewayApi}/gatewayclasses`, { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: 'cilium', annotations: { 'gateway.cozystack.io/listener-sets': 'true' } }, spec: { controllerName: 'example.org/none' } });
    const set = await eventually('a ListenerSet', () => world.find<ListenerSet>(at('tenant-acme', 'listenersets', 'cozystack-1')));
    await eventually('all have a place', async () => (await conditionOf('Complete'))?.status === 'True');
    for (const [name] of routes) await says('Accepted,Accepted', 'tenant-acme', 'httproutes', name);
    assert.deepEqual((await listeners()).map(({ name }) => name), before);
    assert.equal((await listeners()).length + set.spec!.listeners.length, 1 + 3 + 75);
    for (const [name] of routes) await world.delete(at('tenant-acme', 'httproutes', name));
    await eventually('the ListenerSet is gone', async () => (await world.find(at('tenant-acme', 'listenersets', 'cozystack-1'))) === undefined);
  });

  it('write nothing once all is as it should be', async () => {
    const collections = [...['gateways', 'httproutes', 'tlsroutes', 'grpcroutes'].map((plural) => `${gatewayApi}/${plural}`), '/apis/cert-manager.io/v1/certificates', '/apis/records.cozystack.io/v1alpha1/tenantgatewayrecords', '/api/v1/namespaces'];
    const versions = async (): Promise<string> => (await Promise.all(collections.map((collection) => world.list(collection)))).flat().map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).join();
    await eventually('a steady state', async () => {
      const before = await versions();
      await new Promise<void>((resolve) => void setTimeout(resolve, 500));
      return before === (await versions());
    });
    const before = await versions();
    const certificate = certManager('tenant-acme', 'certificates', (await world.list('/apis/cert-manager.io/v1/namespaces/tenant-acme/certificates'))[0]!.metadata.name!);
    await world.patch(namespaceAt('cozy-late'), { metadata: { labels: { theirs: 'changed' } } });
    await routeTo('HTTPRoute', 'cozy-late', 'elsewhere', ['x.test'], [{ name: 'another' }]);
    // A write that comes after the two: once it is answered for, they have been seen.
    await world.patch(`${certificate}/status`, { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-11-30T12:00:00Z' }], notAfter: '2027-03-01T00:00:00Z' } });
    const listener = await eventually('the certificate is told', async () => {
      const { status } = (await world.gateways.get('tenant-acme', 'cozystack')) as unknown as TenantGateway;
      return status?.listeners?.find((one) => one.certificate?.ready);
    });
    assert.equal(listener.certificate?.notAfter, '2027-03-01T00:00:00Z');
    const untouched = (text: string): string[] => text.split(',').filter((entry) => !after.includes(entry));
    const after = await versions();
    const own = (await world.gateways.get('tenant-acme', 'cozystack')).metadata.uid!;
    const late = (await world.find(namespaceAt('cozy-late')))!.metadata.uid!;
    const changed = (await world.find<Certificate>(certificate))!.metadata.uid!;
    assert.deepEqual(new Set(untouched(before).map((entry) => entry.split('@')[0])), new Set([own, late, changed]));
  });

  it('leave nothing behind: labels, entries on routes, and the ACME account, which goes with its Issuer', async () => {
    await world.post('/api/v1/namespaces/tenant-acme/secrets', { metadata: { name: 'cozystack-acme-account', labels: { 'app.kubernetes.io/managed-by': 'cert-manager' } } });
    const issuer = await world.find(certManager('tenant-acme', 'issuers', 'cozystack-gateway'));
    await eventually('the account has an owner', async () => (await world.find(accountAt))?.metadata.ownerReferences?.[0]?.uid === issuer!.metadata.uid);
    await world.changeTenant('tenant-root', 'acme', { gateway: false });
    await eventually('the labels are gone', async () => !(attach('tenant-acme') in (await labelsOf('cozy-shared'))) && !(attach('tenant-acme') in (await labelsOf('tenant-acme-dev'))));
    assert.equal((await labelsOf('cozy-shared'))['namespace.cozystack.io/gateway'], 'tenant-root');
    await says('', 'tenant-acme-dev', 'httproutes', 'app');
    await says('', 'default', 'tlsroutes', 'api');
  });
});
