/**
 * What a TenantGateway must say in each mode, as CEL rules of its schema (`x-kubernetes-validations`): whoever keeps an
 * object with this schema enforces them, in the words of a CustomResourceDefinition.
 */
export interface Rule {
  rule: string;
  message: string;
  reason: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueForbidden';
  fieldPath: string;
}

/** A DNS subdomain, or nothing. */
export const secretNamePattern = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$';

/** What each provider cannot do without, as paths below its own block; blocks of other providers are not looked at. */
const neededBy = {
  cloudflare: ['apiTokenSecretRef.name', 'apiTokenSecretRef.key'],
  route53: ['region'],
  digitalocean: ['tokenSecretRef.name', 'tokenSecretRef.key'],
  rfc2136: ['nameserver', 'tsigKeyName', 'tsigSecretSecretRef.name', 'tsigSecretSecretRef.key'],
} as const;

/** What is said of `spec` in one mode. Without defaults, as in an object of another kind, nothing is. */
const inMode = (mode: string, holds: string, fieldPath: string, message: string): Rule => ({ rule: `!has(self.certMode) || self.certMode != '${mode}' || ${holds}`, message, reason: 'FieldValueRequired', fieldPath });

/** What is said of `spec` in mode dns01 with one provider. */
const withProvider = (provider: string, holds: string, path: string, message: string): Rule =>
  inMode('dns01', `!has(self.dns01) || !has(self.dns01.provider) || self.dns01.provider != '${provider}' || ${holds}`, `.dns01.${provider}${path}`, message);

/** What is said of a provider's block, where it is there. */
const inBlock = (provider: string, holds: string, path: string, message: string): Rule => withProvider(provider, `!has(self.dns01.${provider}) || ${holds}`, `.${path}`, message);

const filled = (path: string): string => `(has(self.${path}) && size(self.${path}) > 0)`;

const providerRules = Object.entries(neededBy).flatMap(([provider, paths]): Rule[] => [
  withProvider(provider, `has(self.dns01.${provider})`, '', `provider ${provider} needs its settings`),
  ...paths.map((path) => inBlock(provider, filled(`dns01.${provider}.${path}`), path, `provider ${provider} needs it`)),
]);

const accessKey = filled('dns01.route53.accessKeyID');
const secretOfRoute53 = `(has(self.dns01.route53.secretAccessKeySecretRef) && ${filled('dns01.route53.secretAccessKeySecretRef.name')})`;

/** Rules on `spec`. */
export const specRules: readonly Rule[] = [
  inMode('dns01', 'has(self.dns01)', '.dns01', 'certMode dns01 needs a provider'),
  ...providerRules,
  // Neither is given where the pod has an identity of its own; a key without its other half is of no use.
  inBlock('route53', `${accessKey} || !${secretOfRoute53}`, 'accessKeyID', 'a secret access key needs the id that goes with it'),
  inBlock('route53', `!${accessKey} || ${secretOfRoute53}`, 'secretAccessKeySecretRef', 'an access key id needs the Secret with its key'),
  inMode('existingSecret', 'has(self.wildcardSecretRef)', '.wildcardSecretRef', 'certMode existingSecret needs a Secret of type kubernetes.io/tls'),
  inMode('existingSecret', '!has(self.wildcardSecretRef) || size(self.wildcardSecretRef.name) > 0', '.wildcardSecretRef.name', 'certMode existingSecret needs a Secret of type kubernetes.io/tls'),
];

/** Rules on the whole object. */
export const rootRules: readonly Rule[] = [
  {
    rule: "!has(self.spec.certMode) || self.spec.certMode != 'existingSecret' || !has(self.spec.wildcardSecretRef) || self.spec.wildcardSecretRef.name != self.metadata.name + '-gateway-tls'",
    message: 'this Secret goes with the certificate that mode dns01 makes; copy it to one of another name',
    reason: 'FieldValueForbidden',
    fieldPath: '.spec.wildcardSecretRef.name',
  },
];
