import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { clientTarget, storeTarget, type RestResource } from '../../pkg/controller/apply.ts';
import type { Controller } from '../../pkg/controller/controller.ts';
import type { EventRecorder } from '../../pkg/controller/events.ts';
import { fromStore, Informer, type InformerOptions } from '../../pkg/controller/informer.ts';
import type { Log } from '../../pkg/controller/log.ts';
import { accountSecretName } from '../../pkg/gateway/account.ts';
import { updateRoute } from '../../pkg/gateway/apply.ts';
import { attachManager } from '../../pkg/gateway/attach.ts';
import { attachController } from '../../pkg/gateway/attach-controller.ts';
import { gatewayController } from '../../pkg/gateway/controller.ts';
import { configMapLedger } from '../../pkg/gateway/issuance/ledger.ts';
import { madeInformer, managedSelector, namespaceInformer, routeInformer, tenantGatewayInformer, type GatewayCaches } from '../../pkg/gateway/observe.ts';
import type { GatewaySettings } from '../../pkg/gateway/settings.ts';
import { certificates, gatewayClasses, gateways, grpcRoutes, httpRoutes, issuers, listenerSets, tlsRoutes, type Certificate, type GatewayClass, type Gateway, type ListenerSet, type Route } from '../../pkg/gateway/types.ts';
import type { KubeClient } from '../../pkg/kube/client.ts';
import type { ReflectorOptions } from '../../pkg/kube/reflector.ts';
import type { Store } from '../../pkg/storage/store.ts';

/** An informer of what the kube-apiserver serves; whoever asks for it starts and stops it. */
export type Watched = <T extends KubeObject>(resource: RestResource, options: InformerOptions<T>, selection?: Pick<ReflectorOptions, 'labelSelector' | 'fieldSelector' | 'metadataOnly'>) => Informer<T>;

export const namespaces: RestResource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };
const secrets: RestResource = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };

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
  client: KubeClient;
  caches: GatewayCaches;
  tenantGateways: Store;
  settings?: GatewaySettings;
  /** The server's own. */
  namespace: string;
  events: EventRecorder;
  log: Log;
  workers?: number;
}

/** The gateways' part of the loop. */
export const gatewayControllers = ({ client, caches, tenantGateways, settings, namespace, events, log, workers }: GatewayPartOptions): Controller[] => [
  attachController({ caches, target: clientTarget(client, namespaces, attachManager), log, workers }),
  gatewayController({
    caches,
    targets: {
      status: storeTarget(tenantGateways),
      gateway: clientTarget(client, gateways),
      listenerSet: clientTarget(client, listenerSets),
      issuer: clientTarget(client, issuers),
      certificate: clientTarget(client, certificates),
      redirect: clientTarget(client, httpRoutes),
      account: clientTarget(client, secrets),
    },
    settings,
    ledger: configMapLedger(client, namespace),
    updateRoute: (update) => updateRoute(client, update),
    events,
    log,
    workers,
  }),
];
