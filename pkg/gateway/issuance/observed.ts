import { controllerOf } from '../../controller/apply.ts';
import type { Certificate } from '../types.ts';
import type { Issuance } from './budget.ts';
import { registeredDomains, setOf } from './names.ts';

/** cert-manager may take a while from an order to the certificate; a renewal comes days after the one before. */
const sameOrderMs = 24 * 3_600_000;

/** What a Certificate of a gateway tells of its own history: when it was made, and when cert-manager last renewed it. */
export const issuancesOf = (certificate: Certificate): Issuance[] => {
  const { metadata, spec, status } = certificate;
  const owner = controllerOf(certificate);
  if (owner?.kind !== 'TenantGateway' || !spec?.dnsNames) return [];
  const common = { gateway: `${metadata.namespace}/${owner.name}`, certificate: metadata.name!, domains: registeredDomains(spec.dnsNames), set: setOf(spec.dnsNames) };
  const [made, issued] = [Date.parse(metadata.creationTimestamp ?? ''), Date.parse(status?.notBefore ?? '')];
  const issuances: Issuance[] = [];
  if (!Number.isNaN(made)) issuances.push({ at: made, ...common });
  if (!Number.isNaN(issued) && (status?.revision ?? 1) > 1) issuances.push({ at: issued, ...common, renewal: true });
  return issuances;
};

/** Which Certificate an issuance is of. */
export const certificateOf = ({ gateway, certificate }: Pick<Issuance, 'gateway' | 'certificate'>): string => `${gateway}/${certificate}`;

/** Whether what a Certificate tells is among its `history` already: the ledger has it from before it was ordered. */
export const isKnown = (told: Issuance, history: readonly Issuance[] = []): boolean => history.some(({ at }) => Math.abs(at - told.at) < sameOrderMs);
