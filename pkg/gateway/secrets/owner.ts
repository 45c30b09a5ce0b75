import type { KubeObject, OwnerReference } from '../../../api/meta/v1/types.ts';
import type { Certificate } from '../types.ts';

/**
 * The `metadata.ownerReferences` that the Secret of a Certificate should have, or undefined where it is right or not ours to
 * change. cert-manager itself does the same under `--enable-certificate-owner-ref`: then the Secret goes with its Certificate,
 * whoever deletes it and whether we are there to see it or not.
 */
export const adopted = ({ metadata: { annotations = {}, ownerReferences = [] } }: KubeObject, { apiVersion, kind, metadata: { name, uid } }: Certificate): OwnerReference[] | undefined => {
  // Another Certificate of that name may have been its owner, and is gone.
  const isOurs = annotations['cert-manager.io/certificate-name'] === name && ownerReferences.every((owner) => owner.kind === kind && owner.name === name);
  if (!isOurs || ownerReferences.some((owner) => owner.uid === uid)) return undefined;
  return [{ apiVersion, kind, name: name!, uid: uid!, controller: true }];
};
