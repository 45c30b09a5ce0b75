import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Loop } from '../../cmd/tenant-apiserver/loop.ts';
import type { Gateway, Route } from '../../pkg/gateway/types.ts';
import { eventually } from '../poll.ts';
import { LoopWorld } from './loop-world.ts';
import { ownControlPlane } from './shared.ts';

const namespaceAt = (name: string): string => `/api/v1/namespaces/${name}`;
const gatewayApi = (namespace: string, plural: string): string => `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/${plural}`;
const certManager = (namespace: string, plural: string): string => `/apis/cert-manager.io/v1/namespaces/${namespace}/${plural}`;

describe('loop', () => {
  let world: LoopWorld;
  let loop: Loop;

  before(async function () {
    this.timeout(20 * 60_000); // the control plane may have to be built
    world = await LoopWorld.create(await ownControlPlane(), { underPolicies: false });
    loop = world.startLoop('first');
  });
  after(() => world?.stop());

  const labelsOf = async (name: string): Promise<Record<string, string>> => (await world.find(namespaceAt(name)))?.metadata.labels ?? {};
  const isGone = (object: string): Promise<true> => eventually(`${object} is gone`, async () => (await world.find(object)) === undefined);

  it('leads', () => eventually('a leader', () => loop.isLeader()));

  it('fills the namespace of root', async () => {
    await world.createTenant('tenant-root', 'root', { host: 'example.org' });
    const root = await world.tenantSays('tenant-root', 'root', 'Reconciled');
    assert.deepEqual([root.status?.namespace, root.status?.host, root.status?.gateway], ['tenant-root', 'example.org', undefined]);
    const labels = await labelsOf('tenant-root');
    assert.equal(labels['namespace.cozystack.io/host'], 'example.org');
    assert.equal(labels['tenant.cozystack.io/tenant-root'], '');
  });

  it('makes a tree of namespaces that inherit', async () => {
    await world.createTenant('tenant-acme', 'dev').catch(() => undefined); // its parent does not exist yet, nor the namespace
    await world.createTenant('tenant-root', 'acme', { gateway: true });
    await world.tenantSays('tenant-root', 'acme', 'Reconciled');
    await world.createTenant('tenant-acme', 'dev');
    const dev = await world.tenantSays('tenant-acme', 'dev', 'Reconciled');
    assert.deepEqual([dev.status?.namespace, dev.status?.host, dev.status?.gateway], ['tenant-acme-dev', 'dev.acme.example.org', 'tenant-acme']);
    const [acme, child] = await Promise.all([world.find(namespaceAt('tenant-acme')), world.find(namespaceAt('tenant-acme-dev'))]);
    assert.deepEqual(child!.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Namespace', name: 'tenant-acme', uid: acme!.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
  });

  it('says which API is missing, and goes on when it comes', async () => {
    const gateway = await world.gatewaySays('tenant-acme', 'cozystack', 'ApiMissing');
    assert.equal(gateway.spec.apex, 'acme.example.org');
    const message = gateway.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
    assert.match(message, /gateway\.networking\.k8s\.io\/v1 \(gateways, httproutes\).*cert-manager\.io\/v1 \(issuers, certificates\)/);
    await Promise.all([world.installCrds('gateway-api'), world.installCrds('cert-manager')]);
    const found = await world.gatewaySays('tenant-acme', 'cozystack', 'GatewayNotAccepted');
    assert.deepEqual(found.status?.listeners, [{ name: 'http', ready: false, reason: 'Pending' }]);
    assert.ok(await world.find(`${gatewayApi('tenant-acme', 'gateways')}/cozystack`));
    assert.ok(await world.find(`${gatewayApi('tenant-acme', 'httproutes')}/cozystack-http-redirect`));
    assert.ok(await world.find(`${certManager('tenant-acme', 'issuers')}/cozystack-gateway`));
  });

  it('serves the hosts of routes, each with a listener and a Certificate, and no foreign ones', async () => {
    await world.createRoute('tenant-acme', 'www', 'tenant-acme/cozystack', ['www.acme.example.org', 'evil.example.com']);
    await world.createRoute('tenant-acme-dev', 'app', 'tenant-acme/cozystack', ['app.dev.acme.example.org', 'www.acme.example.org']);
    const hostnames = async (): Promise<(string | undefined)[]> =>
      ((await world.find<Gateway>(`${gatewayApi('tenant-acme', 'gateways')}/cozystack`))?.spec?.listeners ?? []).map(({ hostname }) => hostname);
    await eventually('both hosts have a listener', async () => (await hostnames()).length === 3);
    assert.deepEqual(await hostnames(), [undefined, 'app.dev.acme.example.org', 'www.acme.example.org']);
    const certificates = await eventually('Certificates', async () => {
      const items = await world.list(certManager('tenant-acme', 'certificates'));
      return items.length === 2 && items;
    });
    assert.deepEqual(certificates.flatMap(({ spec }) => (spec as { dnsNames: string[] }).dnsNames).toSorted(), ['app.dev.acme.example.org', 'www.acme.example.org']);

    const verdict = async (namespace: string, name: string) => {
      const route = await world.find<Route>(`${gatewayApi(namespace, 'httproutes')}/${name}`);
      return route?.status?.parents?.[0]?.conditions?.[0];
    };
    const refused = await eventually('the foreign host is refused', async () => (await verdict('tenant-acme', 'www'))?.status === 'False' && (await verdict('tenant-acme', 'www')));
    assert.match(refused.message, /evil\.example\.com is neither acme\.example\.org nor below it/);
    assert.equal((await verdict('tenant-acme-dev', 'app'))?.reason, 'HostnameNotAllowed');
  });

  it('takes back the listener and the Certificate of a host that nobody wants any more', async () => {
    await world.delete(`${gatewayApi('tenant-acme-dev', 'httproutes')}/app`);
    await eventually('one Certificate is left', async () => (await world.list(certManager('tenant-acme', 'certificates'))).length === 1);
    const gateway = await world.find<Gateway>(`${gatewayApi('tenant-acme', 'gateways')}/cozystack`);
    assert.deepEqual(gateway?.spec?.listeners.map(({ name }) => name.split('-')[0]), ['http', 'https']);
  });

  it('puts back what was changed by hand', async () => {
    await world.patch(namespaceAt('tenant-acme-dev'), { metadata: { labels: { 'namespace.cozystack.io/host': 'evil.example.com', theirs: 'stays' } } });
    await eventually('the label is back', async () => (await labelsOf('tenant-acme-dev'))['namespace.cozystack.io/host'] === 'dev.acme.example.org');
    assert.equal((await labelsOf('tenant-acme-dev'))['theirs'], 'stays');
    const path = `${gatewayApi('tenant-acme', 'gateways')}/cozystack`;
    await world.patch(path, { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } });
    await eventually('the mark is back', async () => (await world.find(path))?.metadata.labels?.['app.kubernetes.io/managed-by'] === 'tenant-apiserver');
    await world.patch(path, { spec: { listeners: [{ name: 'open', port: 80, protocol: 'HTTP' }] } });
    await eventually('our listeners are back and the open one is gone', async () => {
      const listeners = (await world.find<Gateway>(path))?.spec?.listeners ?? [];
      return listeners.length === 2 && listeners.every(({ name }) => name !== 'open');
    });
  });

  it('hands a new host down the tree, and the way back', async () => {
    await world.changeTenant('tenant-root', 'acme', { host: 'acme.test', gateway: true });
    await eventually('the child has the new host', async () => (await labelsOf('tenant-acme-dev'))['namespace.cozystack.io/host'] === 'dev.acme.test');
    await eventually('the gateway has the new apex', async () => ((await world.gateways.get('tenant-acme', 'cozystack')).spec as { apex: string }).apex === 'acme.test');
    await world.changeTenant('tenant-root', 'acme', { gateway: true });
    await eventually('the child has the old host', async () => (await labelsOf('tenant-acme-dev'))['namespace.cozystack.io/host'] === 'dev.acme.example.org');
  });

  it('never takes over a namespace that exists', async () => {
    await world.post('/api/v1/namespaces', { metadata: { name: 'tenant-taken', labels: { theirs: '' } } });
    await world.createTenant('tenant-root', 'taken');
    await world.tenantSays('tenant-root', 'taken', 'NamespaceNotOwned');
    assert.deepEqual(await labelsOf('tenant-taken'), { 'kubernetes.io/metadata.name': 'tenant-taken', theirs: '' });
    await world.delete(namespaceAt('tenant-taken'));
    await world.tenantSays('tenant-root', 'taken', 'Reconciled');
  });

  it('makes nothing below what is no tenant', async () => {
    await world.createTenant('default', 'lost');
    await world.tenantSays('default', 'lost', 'ParentNotFound');
    assert.equal(await world.find(namespaceAt('default-lost')), undefined);
    await world.deleteTenant('default', 'lost');
    await eventually('the tenant is gone', async () => !(await exists('default', 'lost')));
  });

  const exists = async (namespace: string, name: string): Promise<boolean> =>
    world.tenants.get(namespace, name).then(
      () => true,
      () => false,
    );

  it('tells changes of state as events on the virtual object', async () => {
    const events = await world.list('/apis/events.k8s.io/v1/namespaces/tenant-root/events');
    const told = events.filter((event) => (event['regarding'] as KubeObject | undefined)?.kind === 'Tenant').map((event) => `${(event['regarding'] as { name: string }).name} ${event['reason'] as string}`);
    for (const one of ['root Reconciled', 'acme Reconciled', 'taken NamespaceNotOwned', 'taken Reconciled']) assert.equal(told.filter((text) => text === one).length, 1, `${one} in ${told.join(', ')}`);
  });

  it('changes nothing when another leader takes over', async () => {
    const versions = async (): Promise<Record<string, string>> => {
      const collections = [
        '/api/v1/namespaces',
        '/apis/records.cozystack.io/v1alpha1/tenantrecords',
        '/apis/records.cozystack.io/v1alpha1/tenantgatewayrecords',
        ...['gateways', 'httproutes'].map((plural) => `/apis/gateway.networking.k8s.io/v1/${plural}`),
        ...['issuers', 'certificates'].map((plural) => `/apis/cert-manager.io/v1/${plural}`),
        '/apis/events.k8s.io/v1/events',
      ];
      const lists = await Promise.all(collections.map((collection) => world.list(collection)));
      return Object.fromEntries(lists.flat().map(({ metadata }) => [metadata.uid!, `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`]));
    };
    const steady = await eventually('a steady state', async () => {
      const [one, other] = [await versions(), await new Promise<void>((resolve) => void setTimeout(resolve, 500)).then(versions)];
      return JSON.stringify(one) === JSON.stringify(other) && one;
    });
    const second = world.startLoop('second');
    assert.equal(second.isLeader(), false);
    await loop.stop();
    await eventually('the second leads', () => second.isLeader(), { withinMs: 2500 }); // before the lease would have ended
    await new Promise<void>((resolve) => void setTimeout(resolve, 1500));
    assert.deepEqual(await versions(), steady);
    loop = second;
  });

  it('removes the gateway with the flag', async () => {
    await world.changeTenant('tenant-root', 'acme', { gateway: false });
    await eventually('the gateway is gone', () =>
      world.gateways.get('tenant-acme', 'cozystack').then(
        () => false,
        () => true,
      ),
    );
    await eventually('the child has no gateway', async () => (await labelsOf('tenant-acme-dev'))['namespace.cozystack.io/gateway'] === '');
    await eventually('the route is no longer told to be attached', async () => {
      const route = await world.find<Route>(`${gatewayApi('tenant-acme', 'httproutes')}/www`);
      return route?.status?.parents?.length === 0;
    });
  });

  it('deletes leaves first, and leaves the namespace of root', async function () {
    this.timeout(60_000);
    await world.deleteTenant('tenant-root', 'acme');
    const waiting = await world.tenantSays('tenant-root', 'acme', 'ChildrenExist');
    assert.match(waiting.status?.conditions?.[0]?.message ?? '', /tenants in namespace tenant-acme: dev/);
    assert.ok(await world.find(namespaceAt('tenant-acme-dev')));
    await world.deleteTenant('tenant-acme', 'dev');
    await isGone(namespaceAt('tenant-acme-dev'));
    await isGone(namespaceAt('tenant-acme'));
    await eventually('tenant acme is gone', async () => !(await exists('tenant-root', 'acme')));

    await world.deleteTenant('tenant-root', 'taken');
    await world.deleteTenant('tenant-root', 'root');
    await eventually('tenant root is gone', async () => !(await exists('tenant-root', 'root')));
    assert.deepEqual(await labelsOf('tenant-root'), { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'kubernetes.io/metadata.name': 'tenant-root' });
    assert.equal(await world.find(namespaceAt('tenant-taken')), undefined);
  });
});
