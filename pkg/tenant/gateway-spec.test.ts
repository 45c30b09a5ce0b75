import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { gatewaySettings } from './gateway-spec.ts';

const dns01 = (provider: string, more: Record<string, string> = {}) => ({ solver: 'dns01', 'dns01-provider': provider, ...Object.fromEntries(Object.entries(more).map(([key, value]) => [`dns01-${provider}-${key}`, value])) });

describe("what the platform's values say of gateways", () => {
  for (const { name, values, settings } of [
    { name: 'nothing', values: {}, settings: {} },
    { name: 'nothing, in empty texts as the platform writes them', values: { solver: '', 'issuer-name': '', 'wildcard-secret-name': '', 'gateway-attached-namespaces': '' }, settings: {} },
    { name: 'a solver and an issuer', values: { solver: 'http01', 'issuer-name': 'letsencrypt-stage' }, settings: { certMode: 'http01', issuerName: 'letsencrypt-stage' } },
    { name: 'a wildcard certificate, which counts before a solver', values: { 'wildcard-secret-name': 'wild', solver: 'nonsense', 'issuer-name': 'x' }, settings: { certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } } },
    { name: 'namespaces, but none of tenants', values: { 'gateway-attached-namespaces': ' cozy-harbor, default,,tenant-acme ' }, settings: { attachedNamespaces: ['cozy-harbor', 'default'] } },
    { name: 'cloudflare, if no provider is named', values: { solver: 'dns01' }, settings: { certMode: 'dns01', dns01: { provider: 'cloudflare', cloudflare: { apiTokenSecretRef: { name: 'cloudflare-api-token-secret', key: 'api-token' } } } } },
    { name: 'cloudflare with a Secret of its own', values: dns01('cloudflare', { 'secret-name': 'cf', 'secret-key': 'k' }), settings: { certMode: 'dns01', dns01: { provider: 'cloudflare', cloudflare: { apiTokenSecretRef: { name: 'cf', key: 'k' } } } } },
    { name: 'digitalocean', values: dns01('digitalocean'), settings: { certMode: 'dns01', dns01: { provider: 'digitalocean', digitalocean: { tokenSecretRef: { name: 'digitalocean-api-token-secret', key: 'access-token' } } } } },
    { name: 'route53 with the identity of the pod', values: dns01('route53', { region: 'eu-west-1', 'secret-name': '', 'access-key-id': '' }), settings: { certMode: 'dns01', dns01: { provider: 'route53', route53: { region: 'eu-west-1' } } } },
    {
      name: 'route53 with a key',
      values: dns01('route53', { region: 'eu-west-1', 'secret-name': 'aws', 'access-key-id': 'id' }),
      settings: { certMode: 'dns01', dns01: { provider: 'route53', route53: { region: 'eu-west-1', accessKeyID: 'id', secretAccessKeySecretRef: { name: 'aws', key: 'secret-access-key' } } } },
    },
    {
      name: 'rfc2136',
      values: dns01('rfc2136', { nameserver: '192.0.2.1:53', 'tsig-key-name': 'acme', 'secret-name': 'tsig' }),
      settings: { certMode: 'dns01', dns01: { provider: 'rfc2136', rfc2136: { nameserver: '192.0.2.1:53', tsigKeyName: 'acme', tsigAlgorithm: 'HMACSHA256', tsigSecretSecretRef: { name: 'tsig', key: 'tsig-secret-key' } } } },
    },
  ])
    it(name, () => assert.deepEqual(gatewaySettings(values), { settings }));

  for (const { name, values, fault } of [
    { name: 'a solver that is none', values: { solver: 'tls-alpn' }, fault: 'solver: "tls-alpn" is neither http01 nor dns01' },
    { name: 'a provider that is none', values: dns01('godaddy'), fault: 'dns01-provider: "godaddy" is none of cloudflare, route53, digitalocean, rfc2136' },
    { name: 'route53 without region', values: dns01('route53'), fault: 'solver dns01 with provider route53 needs dns01-route53-region' },
    { name: 'route53 with half a key', values: dns01('route53', { region: 'r', 'secret-name': 'aws' }), fault: 'solver dns01 with provider route53 needs dns01-route53-access-key-id' },
    { name: 'rfc2136 without anything', values: dns01('rfc2136'), fault: 'solver dns01 with provider rfc2136 needs dns01-rfc2136-nameserver, dns01-rfc2136-tsig-key-name, dns01-rfc2136-secret-name' },
  ])
    it(`is at fault: ${name}`, () => assert.deepEqual(gatewaySettings(values), { fault }));
});
