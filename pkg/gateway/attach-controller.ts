import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Target } from '../controller/apply.ts';
import { Controller, type ControllerOptions } from '../controller/controller.ts';
import { onChange, type Informer } from '../controller/informer.ts';
import { attachmentOf, carriersOf } from './attach.ts';
import { ownersOf } from './names.ts';

export interface AttachControllerOptions extends Pick<ControllerOptions, 'log' | 'workers' | 'clock'> {
  caches: { tenantGateways: Informer<TenantGateway>; namespaces: Informer };
  /** Where namespaces are written, as `attachManager`. */
  target: Pick<Target, 'apply'>;
}

/**
 * Writes the labels by which namespaces attach to the gateways that list them. Keys are names of namespaces: each is written as
 * a whole for all gateways, so that none of these undoes what is another's, and a gateway that went leaves nothing behind.
 */
export const attachController = ({ caches: { tenantGateways, namespaces }, target, ...options }: AttachControllerOptions): Controller => {
  const reconcile = async (name: string): Promise<void> => {
    const namespace = namespaces.get('', name);
    if (!namespace) return; // it is looked at when it comes
    const listing = tenantGateways.byIndex('attached', name).filter(({ metadata }) => !metadata.deletionTimestamp);
    const desired = attachmentOf(namespace, [...new Set(listing.map(({ metadata }) => metadata.namespace!))]);
    // The uid keeps an apply from creating anew what was deleted since.
    if (desired) await target.apply({ ...desired, metadata: { ...desired.metadata, uid: namespace.metadata.uid } });
  };

  const controller = new Controller({ name: 'gateway-attach', informers: [tenantGateways, namespaces], reconcile, ...options });
  const ofGateway = (gateway: TenantGateway): void => carriersOf(gateway).forEach((name) => controller.queue.add(name));
  tenantGateways.subscribe(onChange(ofGateway, ({ spec, metadata }) => [spec.attachedNamespaces, metadata.deletionTimestamp]));
  const ofNamespace = ({ metadata: { name, labels } }: KubeObject): void => {
    if (ownersOf(labels).length > 0 || tenantGateways.byIndex('attached', name!).length > 0) controller.queue.add(name!);
  };
  namespaces.subscribe(onChange(ofNamespace, ({ metadata: { labels, deletionTimestamp } }) => [labels, deletionTimestamp]));
  return controller;
};
