import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Condition, KubeObject } from '../../api/meta/v1/types.ts';
import { applyStatus, controllerOf, type Target } from '../controller/apply.ts';
import { systemClock, type Clock } from '../controller/clock.ts';
import { conditionOf, type Verdict } from '../controller/conditions.ts';
import { Controller } from '../controller/controller.ts';
import type { EventRecorder } from '../controller/events.ts';
import { keyOf, onChange, splitKey } from '../controller/informer.ts';
import type { Log } from '../controller/log.ts';
import { gatewayName } from '../tenant/names.ts';
import { carryOut, renew, type GatewayTargets } from './apply.ts';
import type { IssuanceDesk } from './issuance/desk.ts';
import { isTakenOver, withoutMoves } from './issuance/ration.ts';
import { issuerNameOf } from './issuer.ts';
import type { SecretReader } from './secrets/reader.ts';
import { secretNeeds } from './secrets/needs.ts';
import { controllerName, hostLabel, ownersOf } from './names.ts';
import { allInformers, gatewaysOf, observe, routesOf, type GatewayCaches } from './observe.ts';
import { nothing, plan, type Action } from './plan.ts';
import { routeUpdates, type RouteUpdate } from './route-status.ts';
import { defaultGatewaySettings, type GatewaySettings } from './settings.ts';
import { statusOf } from './status.ts';
import type { Route } from './types.ts';

export interface GatewayControllerOptions {
  caches: GatewayCaches;
  targets: GatewayTargets & { status: Target };
  settings?: GatewaySettings;
  /** Where certificates are ordered. */
  desk: IssuanceDesk;
  /** Of those that gateways name. */
  secrets: SecretReader;
  updateRoute: (update: RouteUpdate) => Promise<void>;
  events: Pick<EventRecorder, 'record'>;
  log: Log;
  workers?: number;
  clock?: Clock;
}

/** How long until an object of somebody else, which stands where ours should, is looked for again. */
const lookAgainMs = 10_000;

/** How long until it is looked again, at the latest, whether a certificate may be ordered: others may have given up. */
const askAgainMs = 600_000;

/** Makes of each TenantGateway what it should be. Keys are `namespace/name` of TenantGateways. */
export const gatewayController = ({ caches, targets, settings = defaultGatewaySettings, desk, secrets, updateRoute, events, log, workers, clock = systemClock }: GatewayControllerOptions): Controller => {
  const reconcile = async (key: string): Promise<void> => {
    const { namespace, name } = splitKey(key);
    const gateway = caches.tenantGateways.get(namespace, name);
    const needs = gateway ? secretNeeds(gateway.spec, settings.issuers) : [];
    const seen = await secrets.see(namespace, needs);
    const observed = gateway && observe(caches, gateway, settings.issuers, seen);
    const todo = observed && plan(observed);
    const rationed = gateway && todo && (await desk.ration(gateway, orderable(gateway, observed.live.issuer, todo.actions)));
    for (const certificate of rationed?.renewals ?? []) await renew(targets.certificate, certificate, clock.now());
    const carried = rationed && (await carryOut(targets, gateway, rationed.actions));
    // Also for a gateway that is gone: routes must not go on saying that they are attached.
    for (const update of routeUpdates(key, routesOf(caches, key), todo ?? nothing, clock.now())) {
      await updateRoute(update);
      if (update.news) await record(update.route, update.news);
    }
    if (!carried) return desk.forget(key);
    const { refused, rejected, created } = carried;
    if (!created && !gateway.metadata.deletionTimestamp) {
      const outlook = { plan: todo, refused, rejected: rejected.map(({ message }) => message), missing: observed.missing, live: observed.live, waiting: rationed.waiting, secrets: seen };
      const status = statusOf(gateway, outlook, clock.now());
      if (await applyStatus(targets.status, gateway, status)) await tell(gateway, status);
    }
    if (refused.length > 0) controller.queue.addAfter(key, lookAgainMs); // what is not ours is not watched
    const believed = secrets.believedFor(namespace, needs);
    if (believed !== undefined) controller.queue.addAfter(key, believed);
    if (rationed.waiting.length > 0) controller.queue.addAfter(key, Math.min(askAgainMs, ...rationed.waiting.map(({ until }) => until - clock.now())));
    if (rejected.length > 0) throw rejected[0]; // tried again later and later
  };

  const orderable = (gateway: TenantGateway, issuer: KubeObject | undefined, actions: readonly Action[]): readonly Action[] =>
    isTakenOver(issuer, settings.issuers.get(issuerNameOf(gateway.spec))?.server) ? actions : withoutMoves(actions);

  const tell = async (gateway: TenantGateway, { conditions }: NonNullable<TenantGateway['status']>): Promise<void> => {
    const ready = conditionOf(conditions, 'Ready');
    const before = conditionOf(gateway.status?.conditions, 'Ready');
    if (!ready || (before?.status === ready.status && before.reason === ready.reason)) return;
    await record(gateway, ready);
  };

  const record = (regarding: KubeObject, { status, reason, message }: Verdict): Promise<void> =>
    events.record(regarding, { type: status === 'True' ? 'Normal' : 'Warning', reason, action: 'Reconcile', note: message });

  const controller = new Controller({ name: 'gateway', informers: allInformers(caches), reconcile, workers, log, clock });
  desk.wake = (key) => controller.queue.add(key);
  const enqueue = (keys: readonly string[]): void => keys.forEach((key) => controller.queue.add(key));
  const enqueueAll = (gateways: readonly TenantGateway[]): void => enqueue(gateways.map(keyOf));
  const onAvailability = (): void => enqueueAll(caches.tenantGateways.list());

  caches.tenantGateways.subscribe(onChange((gateway) => enqueue([keyOf(gateway)])));
  for (const routes of [caches.httpRoutes, caches.grpcRoutes, ...caches.tlsRoutes]) routes.subscribe({ ...onChange((route) => enqueue(gatewaysOf(route)), routeMatters), onAvailability });
  const ofNamespace = ({ metadata: { name, labels } }: KubeObject): void => {
    for (const owner of ownersOf(labels)) enqueueAll(caches.tenantGateways.byIndex('namespace', owner));
    enqueueAll(caches.tenantGateways.byIndex('attached', name!));
  };
  caches.namespaces.subscribe(onChange(ofNamespace, ({ metadata: { labels } }) => [ownersOf(labels), labels?.[hostLabel]]));
  // Somebody may have taken the owner off: then it is a matter for all gateways of the namespace.
  const ofOwner = (object: KubeObject): void => {
    const { namespace } = object.metadata;
    const owner = controllerOf(object);
    if (owner?.kind === 'TenantGateway') enqueue([`${namespace}/${owner.name}`]);
    else if (!owner) enqueueAll(caches.tenantGateways.byIndex('namespace', namespace!));
  };
  caches.gateways.subscribe({ ...onChange(ofOwner), onAvailability });
  caches.listenerSets.subscribe({ ...onChange(ofOwner), onAvailability });
  caches.accounts.subscribe(onChange(({ metadata }) => enqueue([`${metadata.namespace}/${gatewayName}`]), ({ metadata: { uid, labels, ownerReferences } }) => [uid, labels, ownerReferences]));
  caches.gatewayClasses.subscribe(onChange(({ metadata }) => enqueueAll(caches.tenantGateways.byIndex('class', metadata.name!)), ({ metadata, spec, status }) => [metadata.annotations, spec?.controllerName, status?.supportedFeatures]));
  caches.certificates.subscribe({ ...onChange(ofOwner), onAvailability });
  caches.issuers.subscribe({ ...onChange(ofOwner, issuerMatters), onAvailability });
  return controller;
};

/** Of what cert-manager says of an Issuer, whether it has taken it over. */
const issuerMatters = ({ metadata: { generation, labels, ownerReferences }, status }: KubeObject): unknown => {
  const ready = conditionOf((status as { conditions?: Condition[] } | undefined)?.conditions, 'Ready');
  return [generation, labels, ownerReferences, ready?.status, ready?.observedGeneration];
};

/** What other controllers say of a route is no concern. */
const routeMatters = ({ status, metadata: { generation, labels, ownerReferences, managedFields } }: Route): unknown => [
  generation, // goes with spec
  labels,
  ownerReferences,
  managedFields?.length,
  status?.parents?.filter((entry) => entry.controllerName === controllerName),
];
