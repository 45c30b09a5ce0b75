import type { TenantGatewaySpec } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { IssuerTable } from './issuance/issuers.ts';
import { httpListener, namesOf } from './names.ts';
import { gatewayGroup } from './types.ts';

/** The issuer of a TenantGateway that names none. */
const defaultIssuer = 'letsencrypt-prod';

export const issuerNameOf = ({ issuerName = defaultIssuer }: Pick<TenantGatewaySpec, 'issuerName'>): string => issuerName;

/** `spec` of the Issuer, or what is missing in the TenantGateway's. */
export const issuerSpec = (namespace: string, name: string, spec: TenantGatewaySpec, issuers: IssuerTable): { spec: object } | { fault: string } => {
  const solver = spec.certMode === 'dns01' ? dnsSolver(spec.dns01) : httpSolver(namespace, name);
  if ('fault' in solver) return solver;
  const issuer = issuers.get(issuerNameOf(spec));
  if (!issuer) return { fault: `spec.issuerName: there is no issuer ${JSON.stringify(issuerNameOf(spec))}; there are ${[...issuers.keys()].join(', ')}` };
  const { server, email, caBundle, externalAccountBinding } = issuer;
  return {
    spec: {
      acme: {
        server,
        ...(email && { email }),
        ...(caBundle && { caBundle }),
        ...(externalAccountBinding && { externalAccountBinding }),
        privateKeySecretRef: { name: namesOf(name).accountSecret },
        solvers: [solver],
      },
    },
  };
};

const httpSolver = (namespace: string, name: string) => ({
  http01: { gatewayHTTPRoute: { parentRefs: [{ group: gatewayGroup, kind: 'Gateway', name, namespace, sectionName: httpListener }] } },
});

const dnsSolver = (dns01: TenantGatewaySpec['dns01']): { dns01: object } | { fault: string } => {
  const provider = dns01?.provider ?? 'cloudflare';
  const missing = { fault: `certMode dns01 needs spec.dns01.${provider}` };
  switch (provider) {
    case 'cloudflare':
      return dns01?.cloudflare ? { dns01: { cloudflare: { apiTokenSecretRef: keyOf(dns01.cloudflare.apiTokenSecretRef) } } } : missing;
    case 'digitalocean':
      return dns01?.digitalocean ? { dns01: { digitalocean: { tokenSecretRef: keyOf(dns01.digitalocean.tokenSecretRef) } } } : missing;
    case 'route53': {
      if (!dns01?.route53) return missing;
      const { region, accessKeyID, secretAccessKeySecretRef } = dns01.route53;
      // Without a named Secret the pod's own identity is used (IRSA).
      const key = secretAccessKeySecretRef?.name ? { secretAccessKeySecretRef: keyOf(secretAccessKeySecretRef) } : {};
      return { dns01: { route53: { region, ...(accessKeyID && { accessKeyID }), ...key } } };
    }
    case 'rfc2136': {
      if (!dns01?.rfc2136) return missing;
      const { nameserver, tsigKeyName, tsigAlgorithm = 'HMACSHA256', tsigSecretSecretRef } = dns01.rfc2136;
      return { dns01: { rfc2136: { nameserver, tsigKeyName, tsigAlgorithm, tsigSecretSecretRef: keyOf(tsigSecretSecretRef) } } };
    }
  }
};

const keyOf = ({ name = '', key }: { name?: string; key: string }) => ({ name, key });
