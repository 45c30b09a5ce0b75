import Type, { type Static } from 'typebox';
import { conditions, enumeration, int32, int64, secretKeySelector } from '../../structural.ts';
import { rootRules, secretNamePattern, specRules } from './rules.ts';

const certificateModes = ['http01', 'dns01', 'existingSecret'] as const;
const dnsProviders = ['cloudflare', 'route53', 'digitalocean', 'rfc2136'] as const;

/** Issuers that are there without any configuration. A server with others serves their names; see `withIssuerNames`. */
export const defaultIssuerNames = ['letsencrypt-prod', 'letsencrypt-stage'] as const;

const dns01 = Type.Object(
  {
    provider: Type.Optional(enumeration(dnsProviders, { default: 'cloudflare', description: 'DNS provider that answers the challenge; the blocks of other providers are ignored.' })),
    cloudflare: Type.Optional(
      Type.Object({ apiTokenSecretRef: secretKeySelector('API token.') }, { description: 'Settings for Cloudflare.' }),
    ),
    route53: Type.Optional(
      Type.Object(
        {
          region: Type.String({ description: 'AWS region.' }),
          accessKeyID: Type.Optional(Type.String({ description: 'Access key id; absent where the pod has an identity of its own.' })),
          secretAccessKeySecretRef: Type.Optional(secretKeySelector('Secret access key.')),
        },
        { description: 'Settings for AWS Route 53.' },
      ),
    ),
    digitalocean: Type.Optional(
      Type.Object({ tokenSecretRef: secretKeySelector('API token.') }, { description: 'Settings for DigitalOcean.' }),
    ),
    rfc2136: Type.Optional(
      Type.Object(
        {
          nameserver: Type.String({ description: 'Address of the authoritative name server, host:port.' }),
          tsigKeyName: Type.String({ description: 'Name of the TSIG key.' }),
          tsigAlgorithm: Type.Optional(Type.String({ default: 'HMACSHA256', description: 'Algorithm of the TSIG key.' })),
          tsigSecretSecretRef: secretKeySelector('TSIG secret.'),
        },
        { description: 'Settings for dynamic update (RFC 2136).' },
      ),
    ),
  },
  { description: 'DNS-01 settings; used in mode dns01 only.' },
);

const spec = Type.Object(
  {
    apex: Type.String({ description: 'Apex domain that the gateway serves.' }),
    certMode: Type.Optional(enumeration(certificateModes, { default: 'http01', description: 'Where certificates come from.' })),
    issuerName: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: [...defaultIssuerNames], default: 'letsencrypt-prod', description: 'ACME issuer, in modes http01 and dns01.' })),
    dns01: Type.Optional(dns01),
    wildcardSecretRef: Type.Optional(
      Type.Object(
        { name: Type.String({ maxLength: 253, pattern: secretNamePattern, description: 'Name of a Secret of type kubernetes.io/tls in the same namespace.' }) },
        { description: 'The certificate to serve in mode existingSecret.' },
      ),
    ),
    attachedNamespaces: Type.Optional(
      Type.Array(Type.String(), { description: 'Namespaces besides the tenant tree whose routes may attach.', 'x-kubernetes-list-type': 'atomic' }),
    ),
    tlsPassthroughServices: Type.Optional(
      Type.Array(Type.String(), { description: 'Names below the apex whose TLS is passed through to the backend.', 'x-kubernetes-list-type': 'atomic' }),
    ),
    gatewayClassName: Type.Optional(Type.String({ default: 'cilium', description: 'GatewayClass of the Gateway.' })),
  },
  { description: 'What the gateway should be.', 'x-kubernetes-validations': specRules },
);

const certificateStatus = Type.Object(
  {
    ready: Type.Boolean({ description: 'Whether it is there, and is what it should be.' }),
    notAfter: Type.Optional(Type.String({ format: 'date-time', description: 'When it ceases to be valid.' })),
    reason: Type.Optional(Type.String({ description: 'Why it is not ready.' })),
  },
  { description: 'State of a certificate.' },
);

const listenerStatus = Type.Object(
  {
    name: Type.String({ description: 'Name of the listener.' }),
    hostname: Type.Optional(Type.String({ description: 'Hostname of the listener.' })),
    ready: Type.Boolean({ description: 'Whether the listener is accepted and programmed, and its certificate is there.' }),
    listenerSet: Type.Optional(Type.String({ description: 'ListenerSet that holds it; absent where it is the Gateway itself.' })),
    attachedRoutes: Type.Optional(int32({ description: 'How many routes the data plane has attached to it.' })),
    certificateName: Type.Optional(Type.String({ description: 'Secret that holds its certificate.' })),
    certificate: Type.Optional(certificateStatus),
    reason: Type.Optional(Type.String({ description: 'Why it is not ready.' })),
  },
  { description: 'State of one listener.' },
);

const status = Type.Object(
  {
    observedGeneration: Type.Optional(int64({ description: 'The metadata.generation that this status was computed from.' })),
    conditions: conditions({ description: 'Current state; Ready is the summary.' }),
    listeners: Type.Optional(
      Type.Array(listenerStatus, {
        description: 'State of each listener.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    ),
  },
  { description: 'What the gateway is. Written by the controller only.' },
);

/** The source of the kind's types, and of `schema.json`, which is what the server loads: `npm run update` writes it. */
export const schema = Type.Object(
  {
    spec,
    status: Type.Optional(status),
  },
  { description: "A tenant's Gateway: its listeners, the issuer of its certificates, and which routes may attach.", 'x-kubernetes-validations': rootRules },
);

export type TenantGatewaySpec = Static<typeof spec>;
export type TenantGatewayStatus = Static<typeof status>;
export type ListenerStatus = Static<typeof listenerStatus>;
