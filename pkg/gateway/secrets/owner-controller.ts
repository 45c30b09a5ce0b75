import { controllerOf } from '../../controller/apply.ts';
import type { Clock } from '../../controller/clock.ts';
import { Controller } from '../../controller/controller.ts';
import { keyOf, splitKey, type Informer } from '../../controller/informer.ts';
import type { Log } from '../../controller/log.ts';
import { hasCode } from '../../kube/status-error.ts';
import type { Certificate } from '../types.ts';
import { adopted } from './owner.ts';
import type { SecretStore } from './store.ts';

export interface SecretOwnerOptions {
  certificates: Informer<Certificate>;
  secrets: Pick<SecretStore, 'findMetadata' | 'merge'>;
  log: Log;
  workers?: number | undefined;
  clock?: Clock;
}

/** How long until the right to a namespace's Secrets, which is given when its gateway is made, may have come. */
const forbiddenAgainMs = 5000;

/**
 * Makes Certificates of gateways the owners of the Secrets that cert-manager writes for them, each once: when a Secret was written,
 * and when its Certificate went before that was done. Keys are `namespace/name` of Certificates.
 */
export const secretOwnerController = ({ certificates, secrets, log, workers, clock }: SecretOwnerOptions): Controller => {
  /** For which state of a Certificate its Secret was looked at last. */
  const done = new Map<string, string>();
  /** Certificates that went before. */
  const gone = new Map<string, Certificate>();

  const reconcile = async (key: string): Promise<void> => {
    const { namespace, name } = splitKey(key);
    const live = certificates.get(namespace, name);
    const certificate = live ?? gone.get(key);
    const state = certificate && written(certificate);
    if (certificate && state && done.get(key) !== state) {
      try {
        const secret = await secrets.findMetadata(namespace, certificate.spec!.secretName);
        const ownerReferences = secret && adopted(secret, certificate);
        if (ownerReferences) await secrets.merge(secret, { metadata: { ownerReferences } });
        if (live) done.set(key, state);
      } catch (error) {
        if (!hasCode(error, 403)) throw error;
        if (live) controller.queue.addAfter(key, forbiddenAgainMs); // what is gone has taken our rights along
      }
    }
    gone.delete(key);
  };

  const controller = new Controller({ name: 'secret-owner', informers: [certificates], reconcile, log, ...(workers && { workers }), ...(clock && { clock }) });
  const look = (certificate: Certificate): void => {
    const state = written(certificate);
    if (state && state !== done.get(keyOf(certificate))) controller.queue.add(keyOf(certificate));
  };
  certificates.subscribe({
    onAdd: look,
    onUpdate: (_old, certificate) => look(certificate),
    onDelete: (certificate) => {
      const key = keyOf(certificate);
      const isDone = done.get(key)?.startsWith(certificate.metadata.uid!) === true;
      done.delete(key);
      if (isDone || !written(certificate)) return;
      gone.set(key, certificate);
      controller.queue.add(key);
    },
  });
  return controller;
};

/** Tells for which state of a gateway's Certificate the Secret was written last; undefined where none was yet. */
const written = (certificate: Certificate): string | undefined => {
  const { metadata, status: { revision = 0, conditions = [] } = {} } = certificate;
  const isWritten = revision > 0 || conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isWritten && controllerOf(certificate)?.kind === 'TenantGateway' ? `${metadata.uid} ${revision}` : undefined;
};
