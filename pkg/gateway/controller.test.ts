import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { ReplaceTarget } from '../controller/apply.ts';
import { Informer } from '../controller/informer.ts';
import { silentLog } from '../controller/log.ts';
import { StatusError } from '../kube/status-error.ts';
import { ManualClock } from '../controller/manual-clock.ts';
import { FakeCollection } from '../tenant/fake-cluster.ts';
import { attachManager } from './attach.ts';
import { attachController } from './attach-controller.ts';
import { gatewayController } from './controller.ts';
import { exampleGateway, exampleModes, exampleNamespace, exampleRoute } from './example.ts';
import { IssuanceDesk } from './issuance/desk.ts';
import { defaultIssuers } from './issuance/issuers.ts';
import type { Entry, IssuanceLedger } from './issuance/ledger.ts';
import { allInformers, madeInformer, namespaceInformer, routeInformer, tenantGatewayInformer, type GatewayCaches } from './observe.ts';
import { SecretReader } from './secrets/reader.ts';
import type { Certificate, Gateway, GatewayClass, Listener, ListenerSet, Route } from './types.ts';

const kinds = ['tenantGateway', 'namespace', 'httpRoute', 'grpcRoute', 'tlsRoute', 'gatewayClass', 'gateway', 'listenerSet', 'issuer', 'certificate', 'account'] as const;

/** Gateways' controllers on a cluster without any data plane. */
const started = async () => {
  let version = 1;
  const newVersion = (): string => String((version += 1));
  const all = Object.fromEntries(kinds.map((kind) => [kind, new FakeCollection(kind, newVersion)])) as Record<(typeof kinds)[number], FakeCollection>;
  const caches: GatewayCaches = {
    tenantGateways: new Informer<TenantGateway>(all.tenantGateway.source, tenantGatewayInformer),
    namespaces: new Informer(all.namespace.source, namespaceInformer),
    httpRoutes: new Informer<Route>(all.httpRoute.source, routeInformer),
    grpcRoutes: new Informer<Route>(all.grpcRoute.source, routeInformer),
    tlsRoutes: [new Informer<Route>(all.tlsRoute.source, routeInformer)],
    gatewayClasses: new Informer<GatewayClass>(all.gatewayClass.source),
    gateways: new Informer<Gateway>(all.gateway.source),
    listenerSets: new Informer<ListenerSet>(all.listenerSet.source, madeInformer()),
    issuers: new Informer(all.issuer.source),
    certificates: new Informer<Certificate>(all.certificate.source, madeInformer()),
    accounts: new Informer(all.account.source),
  };
  const clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
  const events: string[] = [];
  const entries: Entry[] = [];
  const extra = { reads: 0, writes: [] as string[] };
  const replacing = (collection: FakeCollection): ReplaceTarget => ({
    get: (namespace, name) => collection.get(namespace, name),
    apply: (object, subresource) => collection.apply(object, subresource),
    delete: (namespace, name, uid) => collection.delete(namespace, name, uid),
    replace: async () => void extra.writes.push('replace'),
  });
  const ledger: IssuanceLedger = {
    read: async () => ((extra.reads += 1), entries),
    add: async (added) => {
      extra.writes.push('ledger');
      entries.push(...added);
    },
  };
  const controllers = [
    attachController({ caches, target: all.namespace.as(attachManager), log: silentLog, clock }),
    gatewayController({
      caches,
      targets: { status: all.tenantGateway, gateway: replacing(all.gateway), listenerSet: replacing(all.listenerSet), issuer: all.issuer, certificate: all.certificate, redirect: all.httpRoute, account: all.account },
      desk: new IssuanceDesk({ ledger, issuers: defaultIssuers, tenantGateways: caches.tenantGateways, certificates: caches.certificates, clock }),
      secrets: new SecretReader(() => Promise.reject(StatusError.notFound({ group: '', resource: 'secrets' }, 'any')), clock),
      updateRoute: async ({ route, parents }) => {
        extra.writes.push(`status ${route.metadata.name}`);
        const collection = { HTTPRoute: all.httpRoute, GRPCRoute: all.grpcRoute, TLSRoute: all.tlsRoute }[route.kind!]!;
        collection.put({ ...collection.objects.get(`${route.metadata.namespace}/${route.metadata.name}`)!, status: { parents } });
      },
      events: { record: async ({ metadata }, { reason }) => void events.push(`${metadata.name} ${reason}`) },
      log: silentLog,
      clock,
    }),
  ];
  for (const informer of allInformers(caches)) informer.start();
  for (const controller of controllers) void controller.start();
  const settle = async (): Promise<void> => {
    for (let round = 0, before = ''; before !== String(version); round += 1) {
      assert.ok(round < 50, 'it does not come to rest');
      before = String(version);
      await clock.advance(61_000);
    }
  };
  /** What was asked and written since the last time. */
  const spent = () => {
    const reads = Object.values(all).reduce((sum, collection) => sum + collection.reads, extra.reads);
    const writes = [...Object.values(all).flatMap((collection) => collection.writes.splice(0)), ...extra.writes.splice(0), ...events.splice(0).map((event) => `event ${event}`)];
    extra.reads = 0;
    for (const collection of Object.values(all)) collection.reads = 0;
    return { reads, writes };
  };
  const put = (...objects: { collection: FakeCollection; object: KubeObject }[]): void => objects.forEach(({ collection, object }) => void collection.put(object));
  const listeners = (owner: string): Listener[] => (all.gateway.objects.get(`${owner}/cozystack`) as Gateway).spec!.listeners;
  return { all, put, settle, spent, listeners, stop: () => Promise.all(controllers.map((controller) => controller.stop())) };
};

/** The collection gives it a uid and a version. */
const without = (object: KubeObject): KubeObject => {
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
};
const bare = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } });
const busy = async (spec: Partial<TenantGateway['spec']> = {}) => {
  const world = await started();
  const { all, put } = world;
  put({ collection: all.namespace, object: exampleNamespace('tenant-acme', 'acme.example.org') }, { collection: all.namespace, object: exampleNamespace('tenant-acme-dev', 'dev.acme.example.org') }, { collection: all.namespace, object: bare('cozy-dashboard') });
  put({ collection: all.tenantGateway, object: without(exampleGateway({ attachedNamespaces: ['cozy-dashboard'], ...spec })) });
  for (let index = 0; index < 30; index += 1) put({ collection: all.httpRoute, object: without(exampleRoute('tenant-acme', `r${index}`, [`h${index}.acme.example.org`], { parentRef: { port: 443 } })) });
  await world.settle();
  return world;
};

describe('gatewayController', () => {
  for (const [mode, spec] of Object.entries(exampleModes)) {
    it(`makes at most 3 reads and 6 writes for one more route, in mode ${mode}`, async () => {
      const { all, put, settle, spent, listeners, stop } = await busy(spec);
      spent();
      put({ collection: all.httpRoute, object: without(exampleRoute('tenant-acme-dev', 'more', ['more.dev.acme.example.org'], { parentRef: { port: 443 } })) });
      await settle();
      const { reads, writes } = spent();
      assert.ok(reads <= 3 && writes.length <= 6 && writes.length > 0, `${reads} reads; ${writes.join(', ')}`);
      if (mode === 'http01') assert.ok(listeners('tenant-acme').some(({ hostname }) => hostname === 'more.dev.acme.example.org'));
      await stop();
    });
  }

  it('asks and writes nothing where what changes is none of its business', async () => {
    const { all, put, settle, spent, stop } = await busy();
    spent();
    const [route] = all.httpRoute.objects.values();
    const namespace = all.namespace.objects.get('tenant-acme-dev')!;
    put(
      { collection: all.httpRoute, object: without(exampleRoute('tenant-other', 'theirs', ['other.test'], { parentRef: { namespace: 'tenant-other' } })) },
      { collection: all.httpRoute, object: { ...route!, status: { parents: [...((route as Route).status?.parents ?? []), { parentRef: { name: 'cozystack' }, controllerName: 'io.cilium/gateway-controller' }] } } },
      { collection: all.namespace, object: { ...namespace, metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, theirs: '' } } } },
      { collection: all.namespace, object: bare('somewhere') },
    );
    await settle();
    assert.deepEqual(spent(), { reads: 0, writes: [] });
    await stop();
  });

  it('attaches a listed namespace as soon as it is there, to each gateway that lists it', async () => {
    const world = await busy({ attachedNamespaces: ['cozy-dashboard', 'cozy-late'] });
    const { all, put, settle, stop } = world;
    const complete = (): string | undefined => (all.tenantGateway.objects.get('tenant-acme/cozystack') as TenantGateway).status?.conditions?.find(({ type }) => type === 'Complete')?.message;
    assert.match(complete()!, /cozy-late/);
    put({ collection: all.namespace, object: exampleNamespace('tenant-root', 'example.org', 'tenant-root') });
    put({ collection: all.tenantGateway, object: without(exampleGateway({ apex: 'example.org', attachedNamespaces: ['cozy-late'] }, { namespace: 'tenant-root' })) });
    put({ collection: all.namespace, object: bare('cozy-late') });
    await settle();
    const labels = (): Record<string, string> => all.namespace.objects.get('cozy-late')!.metadata.labels!;
    assert.deepEqual(labels(), { 'kubernetes.io/metadata.name': 'cozy-late', 'attach.gateway.cozystack.io/tenant-acme': '', 'attach.gateway.cozystack.io/tenant-root': '', 'namespace.cozystack.io/gateway': 'tenant-acme' });
    assert.doesNotMatch(complete()!, /cozy-late/);
    all.tenantGateway.end(all.tenantGateway.objects.get('tenant-acme/cozystack')!);
    await settle();
    assert.deepEqual(labels(), { 'kubernetes.io/metadata.name': 'cozy-late', 'attach.gateway.cozystack.io/tenant-root': '', 'namespace.cozystack.io/gateway': 'tenant-root' });
    await stop();
  });

  it('gives a host to the loser when the winner goes, and tells both', async () => {
    const { all, put, settle, spent, listeners, stop } = await busy();
    const host = 'x.acme.example.org';
    const routeOf = (namespace: string): Route => all.httpRoute.objects.get(`${namespace}/mine`) as Route;
    const said = (namespace: string): string | undefined => routeOf(namespace).status?.parents?.[0]?.conditions?.[0]?.reason;
    const pinnedTo = (): unknown => (listeners('tenant-acme').find(({ hostname }) => hostname === host)!.allowedRoutes as { namespaces: { selector: { matchLabels: object } } }).namespaces.selector.matchLabels;
    for (const namespace of ['tenant-acme', 'cozy-dashboard']) put({ collection: all.httpRoute, object: without(exampleRoute(namespace, 'mine', [host], { parentRef: { port: 443 } })) });
    await settle();
    assert.deepEqual([said('tenant-acme'), said('cozy-dashboard')], ['HostnameConflict', 'Accepted']);
    assert.deepEqual(pinnedTo(), { 'attach.gateway.cozystack.io/tenant-acme': '', 'kubernetes.io/metadata.name': 'cozy-dashboard' });
    assert.ok(spent().writes.includes('event mine HostnameConflict'));
    all.httpRoute.end(routeOf('cozy-dashboard'));
    await settle();
    assert.equal(said('tenant-acme'), 'Accepted');
    assert.deepEqual(pinnedTo(), { 'attach.gateway.cozystack.io/tenant-acme': '', 'kubernetes.io/metadata.name': 'tenant-acme' });
    await stop();
  });

  it('moves hosts beyond the cap into ListenerSets once the GatewayClass has them, and back out', async () => {
    const { all, put, settle, listeners, stop } = await busy();
    for (let index = 30; index < 70; index += 1) put({ collection: all.httpRoute, object: without(exampleRoute('tenant-acme', `r${index}`, [`h${index}.acme.example.org`], { parentRef: { port: 443 }, createdAt: '2026-12-01T00:00:00Z' })) });
    await settle();
    const before = listeners('tenant-acme').map(({ name }) => name);
    assert.equal(before.length, 64);
    const told = (): (string | undefined)[] => [...all.httpRoute.objects.values()].flatMap((route) => (route as Route).status?.parents?.[0]?.conditions?.[0]?.reason ?? []);
    assert.equal(told().filter((reason) => reason === 'ListenerLimitReached').length, 7);
    put({ collection: all.gatewayClass, object: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: 'cilium' }, spec: { controllerName: 'io.cilium/gateway-controller' }, status: { supportedFeatures: [{ name: 'ListenerSet' }] } } });
    await settle();
    assert.deepEqual(listeners('tenant-acme').map(({ name }) => name), before);
    const set = all.listenerSet.objects.get('tenant-acme/cozystack-1') as ListenerSet;
    assert.equal(set.spec!.listeners.length, 7);
    assert.equal(told().filter((reason) => reason === 'NoMatchingParent').length, 7); // their routes name the Gateway alone
    for (let index = 0; index < 10; index += 1) all.httpRoute.end(all.httpRoute.objects.get(`tenant-acme/r${index}`)!);
    await settle();
    assert.deepEqual([all.listenerSet.objects.size, new Set(told()).size], [0, 1]); // and now there is room for them
    await stop();
  });
});
