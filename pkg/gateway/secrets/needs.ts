import type { TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import type { IssuerTable } from '../issuance/issuers.ts';
import { issuerNameOf } from '../issuer.ts';

/** A Secret that a gateway cannot do without, in its own namespace. */
export interface Need {
  name: string;
  /** The key that is read, or `tls` for a certificate with its key. */
  key: string | { tls: true };
  /** Who asks for it. */
  field: string;
}

type Reference = { name?: string; key: string } | undefined;

/** The Secrets that a spec names, as far as its mode uses them. */
export const secretNeeds = (spec: TenantGatewaySpec, issuers: IssuerTable): Need[] => {
  if (spec.certMode === 'existingSecret') {
    const name = spec.wildcardSecretRef?.name;
    return name ? [{ name, key: { tls: true }, field: 'spec.wildcardSecretRef' }] : [];
  }
  const issuer = issuerNameOf(spec);
  const binding = issuers.get(issuer)?.externalAccountBinding?.keySecretRef;
  return [...need(binding, `issuer ${issuer}`), ...(spec.certMode === 'dns01' ? providerNeeds(spec.dns01) : [])];
};

const need = (reference: Reference, field: string): Need[] => (reference?.name ? [{ name: reference.name, key: reference.key, field }] : []);

const providerNeeds = (dns01: TenantGatewaySpec['dns01']): Need[] => {
  const provider = dns01?.provider ?? 'cloudflare';
  switch (provider) {
    case 'cloudflare':
      return need(dns01?.cloudflare?.apiTokenSecretRef, 'spec.dns01.cloudflare');
    case 'route53':
      return need(dns01?.route53?.secretAccessKeySecretRef, 'spec.dns01.route53');
    case 'digitalocean':
      return need(dns01?.digitalocean?.tokenSecretRef, 'spec.dns01.digitalocean');
    case 'rfc2136':
      return need(dns01?.rfc2136?.tsigSecretSecretRef, 'spec.dns01.rfc2136');
  }
};
