import { isDeepStrictEqual } from 'node:util';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { applyStatus, controllerOf, isManaged, isRejected } from '../controller/apply.ts';
import { systemClock, type Clock } from '../controller/clock.ts';
import type { Verdict as ConditionVerdict } from '../controller/conditions.ts';
import { Controller } from '../controller/controller.ts';
import type { EventRecorder } from '../controller/events.ts';
import { keyOf, onChange, splitKey, type Informer } from '../controller/informer.ts';
import type { Log } from '../controller/log.ts';
import { ifFound } from '../kube/status-error.ts';
import { publicNamespace } from './access-levels.ts';
import { coverageMatter, coverageOf } from '../gateway/coverage.ts';
import { carryOut, type TenantTargets } from './apply.ts';
import type { Inherited } from './inheritance.ts';
import { modulesVerdict } from './modules.ts';
import { leftIn } from './left.ts';
import { gatewayName, namespaceOf, tenantUidLabel } from './names.ts';
import { childrenOf, observe, tenantOfNamespace, type TenantCaches } from './observe.ts';
import { namespaceOfPart, partKinds, partMatter } from './part.ts';
import type { Observed, Verdict } from './observed.ts';
import { plan } from './plan.ts';
import type { TenantSettings } from './settings.ts';
import { newsOf, statusOf, type Counts } from './status.ts';

export interface TenantControllerOptions {
  caches: TenantCaches;
  targets: Omit<TenantTargets, 'learn'>;
  settings: TenantSettings;
  events: Pick<EventRecorder, 'record'>;
  /** What is left of a tenant's budget, once what is in use was seen. */
  budgets?: { seen: Pick<Informer, 'settled'>; quotaOf(tenant: Tenant): Omit<Counts, 'children'>; subscribe(tell: (tenant: string) => void): void };
  log: Log;
  workers?: number;
  clock?: Clock;
}

/** How long until an object of somebody else, which stands where ours should, is looked for again: what is not ours is not watched. */
const lookAgainMs = 10_000;
/** How long a tenant waits for more children to come or go before it counts them. */
const countAfterMs = 1000;

/** Makes of each Tenant what it should be. Keys are `namespace/name` of Tenants. */
export const tenantController = ({ caches, targets, settings, events, budgets, log, workers, clock = systemClock }: TenantControllerOptions): Controller => {
  /** What each tenant last handed down, which is what it has and whether those below go with it: only a change concerns its children. */
  const handed = new Map<string, [Inherited, boolean]>();

  const reconcile = async (key: string): Promise<void> => {
    const { namespace, name } = splitKey(key);
    const tenant = caches.tenants.get(namespace, name);
    if (!tenant) return void handed.delete(key);
    const observed = { ...observe(caches, settings, tenant), left: await left(tenant) };
    const hands: [Inherited, boolean] = [observed.inherited, observed.cascades && tenant.metadata.deletionTimestamp !== undefined];
    if (!isDeepStrictEqual(handed.get(key), hands)) {
      handed.set(key, hands);
      enqueueAll(childrenOf(caches, tenant));
    }
    const { actions, verdict } = plan(observed);
    try {
      const refused = await carryOut({ ...targets, learn: (what, object) => caches.parts[what].learn(object) }, observed, actions);
      await say(observed, refused ?? verdict);
      if (refused) controller.queue.addAfter(key, lookAgainMs);
    } catch (error) {
      if (isRejected(error)) await say(observed, { ready: false, reason: 'ReconcileError', message: error.message });
      throw error; // tried again later and later
    }
  };

  /** Namespaces are cached without their status, which is of interest only while one ends. */
  const left = async ({ metadata: { namespace, name } }: Tenant): Promise<string> => {
    const own = caches.namespaces.get('', namespaceOf(namespace!, name!));
    if (!own?.metadata.deletionTimestamp) return '';
    const found = await ifFound(targets.namespace.get('', own.metadata.name!));
    return found ? leftIn(found) : '';
  };

  const countsOf = (tenant: Tenant): Counts => ({ ...budgets?.quotaOf(tenant), children: childrenOf(caches, tenant).length });

  const say = async (observed: Observed, verdict: Verdict | undefined): Promise<void> => {
    if (!verdict) return;
    const { tenant, inherited } = observed;
    const aspects = [modulesVerdict(observed), coverageBy(caches, tenant, inherited)].filter((aspect) => aspect !== undefined);
    const status = statusOf(tenant, inherited, verdict, { counts: countsOf(tenant), aspects }, clock.now());
    if (!(await applyStatus(targets.tenants, tenant, status))) return;
    for (const occurrence of newsOf(tenant, status, verdict)) await events.record(tenant, occurrence);
  };

  const controller = new Controller({ name: 'tenant', informers: [caches.tenants, caches.namespaces, caches.gateways, caches.releases, caches.apiServer, ...Object.values(caches.parts), ...(budgets ? [budgets.seen] : [])], reconcile, workers, log, clock });
  const enqueue = (tenant: Tenant): void => controller.queue.add(keyOf(tenant));
  const enqueueAll = (tenants: readonly Tenant[]): void => tenants.forEach(enqueue);

  // A tenant that comes, begins to end or goes concerns itself, those below it, and one above that waits for its end.
  const turned = (tenant: Tenant): void => {
    enqueue(tenant);
    enqueueAll(childrenOf(caches, tenant));
    const above = tenantOfNamespace(caches, tenant.metadata.namespace!);
    if (above?.metadata.deletionTimestamp) enqueue(above);
    else if (above && above !== tenant) controller.queue.addAfter(keyOf(above), countAfterMs);
  };
  caches.tenants.subscribe({
    onAdd: turned,
    onUpdate: (old, tenant) => (old.metadata.deletionTimestamp === tenant.metadata.deletionTimestamp ? enqueue(tenant) : turned(tenant)),
    onDelete: turned,
  });

  budgets?.subscribe((key) => controller.queue.add(key));

  const own = ({ metadata }: KubeObject): void => enqueueAll(caches.tenants.byIndex('target', metadata.name!));
  const everybody = (): void => enqueueAll(caches.tenants.list());
  const ownAndBelow = (namespace: KubeObject): void => {
    if (namespace.metadata.name === publicNamespace) return everybody();
    own(namespace);
    enqueueAll(caches.tenants.byIndex('namespace', namespace.metadata.name!));
  };
  caches.namespaces.subscribe({
    onAdd: ownAndBelow,
    onUpdate: (old, namespace) => (isDeepStrictEqual(asParent(old), asParent(namespace)) ? own(namespace) : ownAndBelow(namespace)),
    onDelete: ownAndBelow,
  });

  const ofGateway = ({ metadata }: KubeObject): void => {
    if (metadata.name === gatewayName) enqueueAll(caches.tenants.byIndex('target', metadata.namespace!));
  };
  const andItsUsers = (gateway: KubeObject): void => {
    ofGateway(gateway);
    if (gateway.metadata.name === gatewayName) caches.namespaces.byIndex('attach', gateway.metadata.namespace!).forEach(own);
  };
  caches.gateways.subscribe({
    onAdd: andItsUsers,
    onUpdate: (old, gateway) => {
      if (!isDeepStrictEqual(coverageMatter(old), coverageMatter(gateway))) andItsUsers(gateway);
      else if (!isDeepStrictEqual(asMade(old), asMade(gateway))) ofGateway(gateway);
    },
    onDelete: andItsUsers,
  });

  const ofPart = (object: KubeObject): void => {
    const namespace = namespaceOfPart(object);
    if (namespace) enqueueAll(caches.tenants.byIndex('target', namespace));
  };
  // Values are handed down.
  const ofValues = (secret: KubeObject): void => {
    ofPart(secret);
    enqueueAll(caches.tenants.byIndex('namespace', secret.metadata.namespace!));
  };
  for (const what of partKinds) {
    const concern = what === 'values' ? ofValues : ofPart;
    caches.parts[what].subscribe({ ...onChange(concern, partMatter), onAvailability: everybody });
  }

  // Only who is ending waits for what is in its namespace.
  const ofRelease = ({ metadata }: KubeObject): void => enqueueAll(caches.tenants.byIndex('target', metadata.namespace!).filter((tenant) => tenant.metadata.deletionTimestamp));
  caches.releases.subscribe({ onAdd: ofRelease, onUpdate: (_old, release) => ofRelease(release), onDelete: ofRelease });

  caches.apiServer.subscribe(onChange(everybody, ({ endpoints, ports }) => [endpoints, ports]));
  return controller;
};

/** Of a tenant that uses the gateway of one above; those that have their own see its status. */
const coverageBy = ({ gateways }: TenantCaches, { metadata: { namespace, name } }: Tenant, { gateway: owner, host }: Inherited): ConditionVerdict | undefined =>
  owner && host && owner !== namespaceOf(namespace!, name!) ? coverageOf(host, `${owner}/${gatewayName}`, gateways.get(owner, gatewayName)) : undefined;

/** What those below look at in a namespace. */
const asParent = (namespace: KubeObject) => [namespace.metadata.labels?.[tenantUidLabel], isManaged(namespace), namespace.metadata.deletionTimestamp];

/** What a tenant made of its gateway: the status, which changes most, is not among it. */
const asMade = (gateway: KubeObject) => [gateway.metadata.generation, gateway.metadata.labels, controllerOf(gateway), gateway.metadata.deletionTimestamp];
