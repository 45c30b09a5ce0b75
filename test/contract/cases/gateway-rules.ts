import type { Case } from '../case.ts';
import { create, get, merge, object, update, versionOf } from './build.ts';

const dns01 = (block: object): object => ({ certMode: 'dns01', dns01: block });
const token = { name: 'token', key: 'key' };
const rfc2136 = { nameserver: '192.0.2.1:53', tsigKeyName: 'acme', tsigSecretSecretRef: token };

/** Specs of gateways, each good or bad in one way. */
const specs: readonly [string, object][] = [
  ['an issuer that nobody knows', { issuerName: 'me' }],
  ['another issuer', { issuerName: 'letsencrypt-stage' }],
  ['dns01 without a provider', { certMode: 'dns01' }],
  ['dns01 without settings', dns01({})],
  ['cloudflare', dns01({ cloudflare: { apiTokenSecretRef: token } })],
  ['cloudflare without the name of a Secret', dns01({ cloudflare: { apiTokenSecretRef: { key: 'key' } } })],
  ['cloudflare with an empty key', dns01({ cloudflare: { apiTokenSecretRef: { name: 'token', key: '' } } })],
  ['route53 with the identity of the pod', dns01({ provider: 'route53', route53: { region: 'eu-west-1', secretAccessKeySecretRef: { name: '', key: 'key' } } })],
  ['route53 with an access key', dns01({ provider: 'route53', route53: { region: 'eu-west-1', accessKeyID: 'id', secretAccessKeySecretRef: token } })],
  ['route53 without region', dns01({ provider: 'route53', route53: { region: '' } })],
  ['route53 with half an access key', dns01({ provider: 'route53', route53: { region: 'eu-west-1', accessKeyID: 'id' } })],
  ['route53 with the other half', dns01({ provider: 'route53', route53: { region: 'eu-west-1', secretAccessKeySecretRef: token } })],
  ['digitalocean without settings', dns01({ provider: 'digitalocean', cloudflare: { apiTokenSecretRef: token } })],
  ['digitalocean without the name of a Secret', dns01({ provider: 'digitalocean', digitalocean: { tokenSecretRef: { key: 'key' } } })],
  ['rfc2136', dns01({ provider: 'rfc2136', rfc2136 })],
  ['rfc2136 without name server, key and Secret', dns01({ provider: 'rfc2136', rfc2136: { nameserver: '', tsigKeyName: '', tsigSecretSecretRef: { key: 'key' } } })],
  ['faults in the block of another provider', dns01({ cloudflare: { apiTokenSecretRef: token }, rfc2136: { ...rfc2136, nameserver: '' }, route53: { region: '' } })],
  ['faults in a block that no mode looks at', { dns01: { cloudflare: { apiTokenSecretRef: { key: '' } } } }],
  ['existingSecret', { certMode: 'existingSecret', wildcardSecretRef: { name: 'tls' } }],
  ['existingSecret without a Secret', { certMode: 'existingSecret' }],
  ['existingSecret with an empty name', { certMode: 'existingSecret', wildcardSecretRef: { name: '' } }],
  ['existingSecret with what is no name', { certMode: 'existingSecret', wildcardSecretRef: { name: '../x' } }],
  ['existingSecret with the Secret of the other mode', { certMode: 'existingSecret', wildcardSecretRef: { name: '<name>-gateway-tls' } }],
];

const specOf = (part: object): object => object({ spec: { apex: 'example.org', ...part } });

/** What a gateway must say in each mode. */
export const gatewayRules: readonly Case[] = [
  ...specs.map(([name, spec]): Case => ({ name: `gateway: ${name}`, steps: [create(specOf(spec)), get()] })),
  { name: 'gateway: switched to dns01 without a provider', steps: [create(), merge({ spec: { certMode: 'dns01' } }), get()] },
  { name: 'gateway: an issuer that nobody knows, later', steps: [create(), update({ ...specOf({ issuerName: 'me' }), metadata: { name: '<name>', resourceVersion: versionOf(0) } }), get()] },
];
