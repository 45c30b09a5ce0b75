import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { TenantGateway } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { applyObject, deleteObject, isManaged, managedByLabel, type Target } from '../../controller/apply.ts';
import type { Clock } from '../../controller/clock.ts';
import { Controller } from '../../controller/controller.ts';
import type { EventRecorder } from '../../controller/events.ts';
import { onChange, type Informer } from '../../controller/informer.ts';
import type { Log } from '../../controller/log.ts';
import { namespaceOf, tenantUidLabel } from '../../tenant/names.ts';
import { copySelector, planReplicas, terminatesTls, type ReplicaAction } from '../wildcard/replicas.ts';
import type { WildcardSource } from '../wildcard/source.ts';
import { accessBinding, type Subject } from './access.ts';
import { secretsRole } from './permissions.ts';
import type { SecretStore } from './store.ts';

export interface NamespaceSecretsOptions {
  caches: {
    tenants: Informer<Tenant>;
    tenantGateways: Informer<TenantGateway>;
    /** All namespaces, metadata only. */
    namespaces: Informer;
    /** What the loop made. */
    roleBindings: Informer;
  };
  /** Where the operator's certificate is. */
  source: Pick<WildcardSource, 'source' | 'begin' | 'settled' | 'onChange'>;
  secrets: SecretStore;
  roleBindings: Target;
  /** Whom the rights are given to. */
  subject: () => Promise<Subject>;
  /** A replica was written or taken away. */
  onReplica: (namespace: string, name: string) => void;
  events: Pick<EventRecorder, 'record'>;
  log: Log;
  workers?: number | undefined;
  clock?: Clock;
}

/** After how long it is looked whether somebody changed or removed a replica: they are not watched. */
const lookAgainMs = 300_000;
/** What a right that was just given takes to be known to all kube-apiservers, mostly. */
const rightsTakeMs = 250;

/**
 * Gives the loop its rights on Secrets where TLS ends, and keeps replicas of the operator's wildcard certificate there; takes both
 * away where it no longer does. Keys are namespaces.
 */
export const namespaceSecretsController = (options: NamespaceSecretsOptions): Controller => {
  const { caches, source, secrets, roleBindings, events, onReplica, log, workers, clock } = options;
  const bindingIn = (name: string): KubeObject | undefined => caches.roleBindings.get(name, secretsRole);
  const isTarget = (namespace: KubeObject): boolean => caches.tenants.byIndex('target', namespace.metadata.name!).some((tenant) => terminatesTls(namespace, tenant));

  const reconcile = async (name: string): Promise<void> => {
    const namespace = caches.namespaces.get('', name);
    if (!namespace || namespace.metadata.deletionTimestamp) return;
    const wish = source.source;
    const isSource = wish.state === 'on' && wish.namespace === name;
    const target = isTarget(namespace);
    const isNeeded = isSource || (target && wish.state === 'on') || caches.tenantGateways.byIndex('namespace', name).length > 0;
    const binding = bindingIn(name);
    if (!isNeeded && !binding) return;
    if (isNeeded && (await bind(name, binding))) return controller.queue.addAfter(name, rightsTakeMs);
    if (isSource) source.begin();
    if (wish.state === 'unsaid' && isNeeded) return;

    const copies = await secrets.listMetadata(name, copySelector);
    const existing = wish.state === 'on' && wish.secret && target && !isSource ? await secrets.find(name, wish.name) : undefined;
    const actions = planReplicas({ namespace: name, isTarget: target, source: wish, copies, existing });
    for (const action of actions) await act(action);
    if (isNeeded) return controller.queue.addAfter(name, lookAgainMs);
    const left = copies.length - actions.filter((action) => action.do === 'delete').length;
    if (left === 0) await deleteObject(roleBindings, binding!);
  };

  /** True where the right is new. */
  const bind = async (namespace: string, live: KubeObject | undefined): Promise<boolean> => {
    const outcome = await applyObject(roleBindings, accessBinding(namespace, await options.subject()), live, isManaged);
    if (outcome.result === 'refused') log.warn({ namespace }, outcome.message);
    return outcome.result === 'written';
  };

  const act = async (action: ReplicaAction): Promise<void> => {
    const { namespace, name } = action.secret.metadata;
    if (action.do === 'skip') {
      const note = `Secret ${namespace}/${name} is no replica of the wildcard certificate, and stands where one should; it is left alone: remove or rename it`;
      return events.record(action.secret, { type: 'Warning', reason: 'WildcardReplicaSkipped', action: 'Replicate', note });
    }
    if (action.do === 'create') await secrets.create(action.secret);
    if (action.do === 'update') await secrets.merge(action.secret, action.change);
    if (action.do === 'replace' || action.do === 'delete') await secrets.remove(action.secret);
    if (action.do === 'replace') await secrets.create(action.by);
    onReplica(namespace!, name!);
  };

  const controller = new Controller({ name: 'gateway-secrets', informers: [...Object.values(caches), source], reconcile, log, ...(workers && { workers }), ...(clock && { clock }) });
  const add = (namespace: string): void => controller.queue.add(namespace);
  const ofTenant = ({ metadata: { namespace, name } }: KubeObject): void => add(namespaceOf(namespace!, name!));
  source.onChange = () => {
    const wish = source.source;
    caches.tenants.list().forEach(ofTenant);
    for (const { metadata } of caches.roleBindings.list()) if (metadata.name === secretsRole) add(metadata.namespace!);
    if (wish.state === 'on') add(wish.namespace);
  };
  caches.tenants.subscribe(onChange<Tenant>(ofTenant, ({ metadata: { uid }, spec }) => [uid, spec?.gateway, spec?.ingress]));
  caches.tenantGateways.subscribe(onChange(({ metadata }) => add(metadata.namespace!), ({ metadata }) => metadata.uid));
  const ofNamespace = ({ metadata: { name } }: KubeObject): void => {
    const wish = source.source;
    // Most namespaces are nobody's business here.
    if (bindingIn(name!) || caches.tenants.byIndex('target', name!).length > 0 || (wish.state === 'on' && wish.namespace === name)) add(name!);
  };
  caches.namespaces.subscribe(onChange(ofNamespace, ({ metadata: { uid, labels, deletionTimestamp } }) => [uid, labels?.[tenantUidLabel], labels?.[managedByLabel], deletionTimestamp]));
  caches.roleBindings.subscribe(onChange(({ metadata: { name, namespace } }) => void (name === secretsRole && add(namespace!)), ({ metadata }) => metadata.resourceVersion));
  return controller;
};
