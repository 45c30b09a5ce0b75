import type { TenantGatewaySpec } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { ClusterValues } from './values.ts';

type Settings = Partial<TenantGatewaySpec>;

/**
 * What the platform's values (`_cluster`) say of all gateways, as Cozystack's chart reads them, or what is wrong with them. What they
 * do not say stays out, so that it can be set on each TenantGateway by hand.
 */
export const gatewaySettings = (values: ClusterValues): { settings: Settings } | { fault: string } => {
  const text = (key: string, otherwise = ''): string => {
    const value = values[key];
    return value === undefined || value === null || value === '' ? otherwise : String(value as string | number | boolean);
  };
  // A tenant attaches by its place in the tree; the chart would refuse the list for one of them.
  const attachedNamespaces = text('gateway-attached-namespaces').split(',').map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('tenant-'));
  const attached: Settings = attachedNamespaces.length > 0 ? { attachedNamespaces } : {};
  const wildcard = text('wildcard-secret-name');
  if (wildcard) return { settings: { certMode: 'existingSecret', wildcardSecretRef: { name: wildcard }, ...attached } };

  const [solver, issuerName] = [text('solver'), text('issuer-name')];
  if (solver !== '' && solver !== 'http01' && solver !== 'dns01') return { fault: `solver: ${JSON.stringify(solver)} is neither http01 nor dns01` };
  const issued: Settings = { ...(solver && { certMode: solver as 'http01' | 'dns01' }), ...(issuerName && { issuerName }), ...attached };
  if (solver !== 'dns01') return { settings: issued };
  const dns01 = providerSettings(text('dns01-provider', 'cloudflare'), text);
  return 'fault' in dns01 ? dns01 : { settings: { ...issued, dns01: dns01.block } };
};

type Read = (key: string, otherwise?: string) => string;

const providerSettings = (provider: string, text: Read): { block: NonNullable<TenantGatewaySpec['dns01']> } | { fault: string } => {
  const of = (key: string, otherwise?: string): string => text(`dns01-${provider}-${key}`, otherwise);
  const secret = (name: string, key: string) => ({ name: of('secret-name', name), key: of('secret-key', key) });
  const missing = (...keys: string[]): { fault: string } | undefined => {
    const absent = keys.filter((key) => of(key) === '').map((key) => `dns01-${provider}-${key}`);
    return absent.length > 0 ? { fault: `solver dns01 with provider ${provider} needs ${absent.join(', ')}` } : undefined;
  };
  switch (provider) {
    case 'cloudflare':
      return { block: { provider, cloudflare: { apiTokenSecretRef: secret('cloudflare-api-token-secret', 'api-token') } } };
    case 'digitalocean':
      return { block: { provider, digitalocean: { tokenSecretRef: secret('digitalocean-api-token-secret', 'access-token') } } };
    case 'route53': {
      // Without a Secret the identity of cert-manager's pod counts (IRSA), and half a key is none.
      const key = of('secret-name') ? { accessKeyID: of('access-key-id'), secretAccessKeySecretRef: secret('', 'secret-access-key') } : {};
      return missing('region', ...(of('secret-name') ? ['access-key-id'] : [])) ?? { block: { provider, route53: { region: of('region'), ...key } } };
    }
    case 'rfc2136': {
      const block = { nameserver: of('nameserver'), tsigKeyName: of('tsig-key-name'), tsigAlgorithm: of('tsig-algorithm', 'HMACSHA256'), tsigSecretSecretRef: secret('', 'tsig-secret-key') };
      return missing('nameserver', 'tsig-key-name', 'secret-name') ?? { block: { provider, rfc2136: block } };
    }
    default:
      return { fault: `dns01-provider: ${JSON.stringify(provider)} is none of cloudflare, route53, digitalocean, rfc2136` };
  }
};
