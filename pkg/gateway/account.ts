import type { KubeObject } from '../../api/meta/v1/types.ts';
import { gatewayName } from '../tenant/names.ts';
import { namesOf } from './names.ts';
import { issuers } from './types.ts';

/** Of the gateways that tenants get: the one name of a Secret that is looked at. */
export const accountSecretName = namesOf(gatewayName).accountSecret;

/**
 * An ACME account's Secret with the Issuer that it is for as an owner, or undefined where there is nothing to do. cert-manager
 * makes it, and leaves it when the Issuer goes; with an owner it goes too, once no Issuer could make it anew.
 */
export const withIssuerAsOwner = (secret: KubeObject, issuer: KubeObject): KubeObject | undefined => {
  const { name, namespace, uid, ownerReferences = [] } = secret.metadata;
  if (!isOfCertManager(secret) || ownerReferences.some((owner) => owner.uid === issuer.metadata.uid)) return undefined;
  const owner = { apiVersion: issuers.apiVersion, kind: issuers.kind, name: issuer.metadata.name!, uid: issuer.metadata.uid! };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, uid, ownerReferences: [owner] } };
};

/** An operator may bring an account: that is nobody's to delete. Older versions of cert-manager set no label. */
const isOfCertManager = ({ metadata: { labels, managedFields = [] } }: KubeObject): boolean =>
  labels?.['app.kubernetes.io/managed-by'] === 'cert-manager' || managedFields.some(({ manager }) => manager?.startsWith('cert-manager'));
