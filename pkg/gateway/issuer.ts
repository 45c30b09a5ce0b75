import type { TenantGatewaySpec } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { gatewayGroup } from './types.ts';
import { httpListener, namesOf } from './names.ts';

/** ACME directories by issuer name. */
const servers = {
  'letsencrypt-prod': 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-stage': 'https://acme-staging-v02.api.letsencrypt.org/directory',
} as const satisfies Record<NonNullable<TenantGatewaySpec['issuerName']>, string>;

/** `spec` of the Issuer, or what is missing in the TenantGateway's. */
export const issuerSpec = (namespace: string, name: string, spec: TenantGatewaySpec): { spec: object } | { fault: string } => {
  const solver = spec.certMode === 'dns01' ? dnsSolver(spec.dns01) : httpSolver(namespace, name);
  if ('fault' in solver) return solver;
  return {
    spec: {
      acme: {
        server: servers[spec.issuerName ?? 'letsencrypt-prod'],
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
