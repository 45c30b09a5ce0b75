import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { clientTarget, type RestResource, type Target } from '../../pkg/controller/apply.ts';
import { systemClock } from '../../pkg/controller/clock.ts';
import type { Controller } from '../../pkg/controller/controller.ts';
import type { EventRecorder } from '../../pkg/controller/events.ts';
import { fromStore, Informer, keyOf, type InformerOptions } from '../../pkg/controller/informer.ts';
import type { Log } from '../../pkg/controller/log.ts';
import { accountSecretName } from '../../pkg/gateway/account.ts';
import { updateRoute } from '../../pkg/gateway/apply.ts';
import { attachManager } from '../../pkg/gateway/attach.ts';
import { attachController } from '../../pkg/gateway/attach-controller.ts';
import { gatewayController } from '../../pkg/gateway/controller.ts';
import { IssuanceDesk, type BudgetLeft } from '../../pkg/gateway/issuance/desk.ts';
import { configMapLedger } from '../../pkg/gateway/issuance/ledger.ts';
import { madeInformer, managedSelector, namespaceInformer, routeInformer, tenantGatewayInformer, type GatewayCaches } from '../../pkg/gateway/observe.ts';
import { ownSubject } from '../../pkg/gateway/secrets/access.ts';
import type { Secret } from '../../pkg/gateway/secrets/facts.ts';
import { namespaceSecretsController } from '../../pkg/gateway/secrets/namespace-controller.ts';
import { secretOwnerController } from '../../pkg/gateway/secrets/owner-controller.ts';
import { SecretReader } from '../../pkg/gateway/secrets/reader.ts';
import { secrets, secretStore } from '../../pkg/gateway/secrets/store.ts';
import { WildcardSource } from '../../pkg/gateway/wildcard/source.ts';
import { defaultGatewaySettings, type GatewaySettings } from '../../pkg/gateway/settings.ts';
import { certificates, gatewayClasses, gateways, grpcRoutes, httpRoutes, issuers, listenerSets, tlsRoutes, type Certificate, type GatewayClass, type Gateway, type ListenerSet, type Route } from '../../pkg/gateway/types.ts';
import type { KubeClient } from '../../pkg/kube/client.ts';
import type { ReflectorOptions } from '../../pkg/kube/reflector.ts';
import type { Store } from '../../pkg/storage/store.ts';
import { partResources, type PartCaches } from '../../pkg/tenant/part.ts';

/** An informer of what the kube-apiserver serves; whoever asks for it starts and stops it. */
export type Watched = <T extends KubeObject>(resource: RestResource, options: InformerOptions<T>, selection?: Pick<ReflectorOptions, 'labelSelector' | 'fieldSelector' | 'metadataOnly'>, namespace?: string) => Informer<T>;

export const namespaces: RestResource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };

export const gatewayCaches = (watched: Watched, tenantGateways: Store): GatewayCaches => {
  const ours = { labelSelector: managedSelector };
  return {
    tenantGateways: new Informer<TenantGateway>(fromStore(tenantGateways), tenantGatewayInformer),
    namespaces: watched(namespaces, namespaceInformer, { metadataOnly: true }),
    httpRoutes: watched<Route>(httpRoutes, routeInformer),
    grpcRoutes: watched<Route>(grpcRoutes, routeInformer),
    tlsRoutes: tlsRoutes.map((resource) => watched<Route>(resource, routeInformer)),
    gatewayClasses: watched<GatewayClass>(gatewayClasses, {}),
    gateways: watched<Gateway>(gateways, {}, ours),
    listenerSets: watched<ListenerSet>(listenerSets, madeInformer(), ours),
    issuers: watched(issuers, {}, ours),
    certificates: watched<Certificate>(certificates, madeInformer(), ours),
    accounts: watched(secrets, {}, { fieldSelector: `metadata.name=${accountSecretName}`, metadataOnly: true }),
  };
};

export interface GatewayPartOptions {
  client: Pick<KubeClient, 'json'>;
  caches: GatewayCaches;
  tenants: Informer<Tenant>;
  /** Of what tenants get. */
  parts: Pick<PartCaches, 'roleBinding' | 'values'>;
  watched: Watched;
  /** Where the status of TenantGateways is written. */
  status: Target;
  settings?: GatewaySettings;
  /** The server's own. */
  namespace: string;
  events: EventRecorder;
  log: Log;
  workers?: number;
}

export interface GatewayPart {
  controllers: Controller[];
  /** What ACME servers may still be asked for. */
  budget: () => BudgetLeft[];
  /** Ends what else began. */
  stop: () => Promise<void>;
}

/** The gateways' part of the loop. */
export const gatewayControllers = ({ client, caches, tenants, parts, watched, status, settings = defaultGatewaySettings, namespace, events, log, workers }: GatewayPartOptions): GatewayPart => {
  const store = secretStore(client);
  const reader = new SecretReader(store.get, systemClock);
  const desk = new IssuanceDesk({ ledger: configMapLedger(client, namespace), issuers: settings.issuers, tenantGateways: caches.tenantGateways, certificates: caches.certificates, clock: systemClock });
  const main = gatewayController({
    caches,
    targets: {
      status,
      gateway: clientTarget(client, gateways),
      listenerSet: clientTarget(client, listenerSets),
      issuer: clientTarget(client, issuers),
      certificate: clientTarget(client, certificates),
      redirect: clientTarget(client, httpRoutes),
      account: clientTarget(client, secrets),
    },
    settings,
    desk,
    secrets: reader,
    updateRoute: (update) => updateRoute(client, update),
    events,
    log,
    workers,
  });
  const cacheOf = (place: string, name: string): Informer<Secret> => watched<Secret>(secrets, {}, { fieldSelector: `metadata.name=${name}` }, place);
  const source = new WildcardSource({ values: parts.values, namespace, cacheOf });
  const ofSecrets = namespaceSecretsController({
    caches: { tenants, tenantGateways: caches.tenantGateways, namespaces: caches.namespaces, roleBindings: parts.roleBinding },
    source,
    secrets: store,
    roleBindings: clientTarget(client, partResources.roleBinding),
    subject: ownSubject(client),
    onReplica: (place, name) => {
      reader.forget(place, name);
      for (const gateway of caches.tenantGateways.byIndex('namespace', place)) main.queue.add(keyOf(gateway));
    },
    events,
    log,
    workers,
  });
  const controllers = [
    attachController({ caches, target: clientTarget(client, namespaces, attachManager), log, workers }),
    main,
    ofSecrets,
    secretOwnerController({ certificates: caches.certificates, secrets: store, log, workers }),
  ];
  return { controllers, budget: () => desk.left(), stop: () => source.stop() };
};
