import type { Registry } from 'prom-client';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import { clientTarget, collectionPath, storeTarget, type RestResource, type Target } from '../../pkg/controller/apply.ts';
import { EventRecorder } from '../../pkg/controller/events.ts';
import { fromReflector, fromStore, Informer, type InformerOptions } from '../../pkg/controller/informer.ts';
import { LeaderElection, type LeaderElectionOptions } from '../../pkg/controller/leader-election.ts';
import type { Log } from '../../pkg/controller/log.ts';
import { ControllerMetrics } from '../../pkg/controller/metrics.ts';
import { Pace, pacedClient, pacedTarget } from '../../pkg/controller/pace.ts';
import { leaseName } from '../../pkg/controller/permissions.ts';
import { GatewayMetrics } from '../../pkg/gateway/metrics.ts';
import { allInformers, managedSelector } from '../../pkg/gateway/observe.ts';
import type { GatewaySettings } from '../../pkg/gateway/settings.ts';
import type { KubeClient } from '../../pkg/kube/client.ts';
import type { Duty } from '../../pkg/server/serving-controller.ts';
import type { ReflectorOptions } from '../../pkg/kube/reflector.ts';
import type { Store } from '../../pkg/storage/store.ts';
import { tenantController } from '../../pkg/tenant/controller.ts';
import { applicationLabel, releaseStatus } from '../../pkg/tenant/modules.ts';
import { apiServerSlice, releaseInformer, tenantInformer, type EndpointSlice } from '../../pkg/tenant/observe.ts';
import { PoolController, quotaInformer, type UsedQuota } from '../../pkg/tenant/quota/pool-controller.ts';
import { partInformer, partKinds, partResources, type PartKind } from '../../pkg/tenant/part.ts';
import { defaultTenantSettings, type TenantSettings } from '../../pkg/tenant/settings.ts';
import { valuesName } from '../../pkg/tenant/values.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { gatewayCaches, gatewayControllers, namespaces } from './gateways.ts';
import type { LoopLimits } from './loop-options.ts';

export interface LoopOptions {
  client: KubeClient;
  tenants: Store;
  gateways: Store;
  /** Unlike any other replica's, earlier runs included. */
  identity: string;
  /** Of the Lease. */
  namespace?: string;
  log: Log;
  settings?: TenantSettings;
  gatewaySettings?: GatewaySettings;
  limits?: LoopLimits;
  /** Where the leader's work is counted. */
  metrics?: LoopMetrics;
  /** What the leader does besides; each is begun with a term and ended with it. */
  duties?: readonly (() => Duty)[];
  electionOptions?: Partial<Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs' | 'name'>>;
}

export interface LoopMetrics {
  controllers: ControllerMetrics;
  gateways: GatewayMetrics;
}

export const loopMetrics = (registry: Registry): LoopMetrics => ({ controllers: new ControllerMetrics(registry), gateways: new GatewayMetrics(registry) });

export interface Loop {
  isLeader(): boolean;
  /** Finishes what is under way and gives the lease back. */
  stop(): Promise<void>;
}

/** Competes for the lease and, while leading, makes tenants and gateways what they should be. */
export const startLoop = (options: LoopOptions): Loop => {
  const { client, identity, namespace = 'cozy-system', log, electionOptions } = options;
  const election = new LeaderElection({ client, namespace, name: leaseName, identity, log, ...electionOptions });
  let term: Duty | undefined;
  election.run({
    onStartedLeading: () => {
      term = beginTerm({ ...options, namespace });
    },
    onStoppedLeading: async () => {
      await term?.end();
      term = undefined;
    },
  });
  return { isLeader: () => election.isLeader, stop: () => election.stop() };
};

const resourceQuotas: RestResource = { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' };

/** Caches begin anew with each term: what was seen in an earlier one is out of date. */
const beginTerm = ({ client, tenants, gateways: tenantGateways, identity, namespace, log, settings = defaultTenantSettings, gatewaySettings, limits, metrics, duties = [] }: LoopOptions & { namespace: string }): Duty => {
  const { workers, writes } = limits ?? {};
  const pace = writes && new Pace(writes);
  const writer = pace ? pacedClient(client, pace) : client;
  const inPace = (store: Store): Target => (pace ? pacedTarget(storeTarget(store), pace) : storeTarget(store));
  type Selection = Pick<ReflectorOptions, 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;
  const watched = <T extends KubeObject>(resource: RestResource, informerOptions: InformerOptions<T>, selection: Selection = {}, namespace = ''): Informer<T> => {
    const onError = (error: unknown): void => log.warn({ err: error, resource: resource.plural }, 'watch interrupted');
    return new Informer<T>(fromReflector({ client, path: collectionPath(resource, namespace), ...selection, onError }), informerOptions);
  };
  const ours = { labelSelector: managedSelector };
  const tenantCache = new Informer<Tenant>(fromStore(tenants), tenantInformer);
  const quotaCache = watched<UsedQuota>(resourceQuotas, quotaInformer);
  const ofGateways = gatewayCaches(watched, tenantGateways);
  const ofPart = <T>(each: (what: PartKind) => T) => Object.fromEntries(partKinds.map((what) => [what, each(what)])) as Record<PartKind, T>;
  // Root's values may be the platform's, without our label; and no other Secret is any of our business.
  const parts = ofPart((what) => watched(partResources[what], partInformer(what === 'module' ? releaseStatus : undefined), what === 'values' ? { fieldSelector: `metadata.name=${valuesName}` } : ours));
  const releases = watched(partResources.module, releaseInformer, { labelSelector: applicationLabel, metadataOnly: true });
  const apiServer = watched<EndpointSlice>(apiServerSlice.resource, {}, { fieldSelector: `metadata.name=${apiServerSlice.name}` }, apiServerSlice.namespace);
  const events = new EventRecorder({ client: writer, log, instance: identity });
  const pools = new PoolController({
    caches: { tenants: tenantCache, namespaces: ofGateways.namespaces, quotas: quotaCache },
    target: clientTarget(writer, resourceQuotas),
    settings,
    events,
    log,
    workers,
  });
  const gatewayPart = gatewayControllers({ client: writer, caches: ofGateways, tenants: tenantCache, parts, watched, status: inPace(tenantGateways), settings: gatewaySettings, namespace, events, log, workers });
  const controllers = [
    pools.controller,
    tenantController({
      budgets: pools,
      caches: { tenants: tenantCache, namespaces: ofGateways.namespaces, gateways: ofGateways.tenantGateways, parts, releases, apiServer },
      settings,
      targets: {
        tenants: { ...inPace(tenants), update: (object, writeOptions) => tenants.update(object, writeOptions) },
        namespace: clientTarget(writer, namespaces),
        gateway: inPace(tenantGateways),
        parts: ofPart((what) => clientTarget(writer, partResources[what])),
      },
      events,
      log,
      workers,
    }),
    ...gatewayPart.controllers,
  ];
  const watching = metrics ? [metrics.gateways.begin({ ...ofGateways, budget: gatewayPart.budget }), ...controllers.map((controller) => metrics.controllers.watch(controller))] : [];
  const begun = duties.map((begin) => begin());
  const informers = [tenantCache, quotaCache, ...allInformers(ofGateways), releases, apiServer, ...Object.values(parts)];
  for (const informer of informers) informer.start();
  for (const controller of controllers) controller.start().catch((error: unknown) => log.error({ err: error }, 'a controller could not start'));
  return {
    end: async () => {
      for (const leave of watching) leave();
      await Promise.all([...begun.map((duty) => duty.end()), ...controllers.map((controller) => controller.stop()), gatewayPart.stop()]);
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
};
