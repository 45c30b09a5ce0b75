import { X509Certificate } from 'node:crypto';
import type { defaultIssuerNames } from '../../../api/gateway/v1alpha1/schema.ts';
import { goDurationMs } from '../../endpoints/go-duration.ts';
import { isObject, type JsonObject } from '../../json/object.ts';

/** At most `count` in any time of that length. */
export interface Limit {
  count: number;
  periodMs: number;
}

/** What an ACME server lets its clients have; absent is without limit. */
export interface RateLimits {
  /** New certificates for a registered domain. */
  certificatesPerDomain?: Limit;
  /** Certificates for the very same set of names, renewals included. */
  duplicates?: Limit;
  /** Orders of one account; each gateway has an account of its own. */
  orders?: Limit;
}

/** An ACME server, and how certificates are had from it. */
export interface IssuerEntry {
  /** URL of the ACME directory. */
  server: string;
  /** Contact of the accounts. */
  email?: string;
  /** PEM certificates, in base64, that the server's own certificate is verified by. */
  caBundle?: string;
  /** The Secret is looked for in the namespace of each gateway. */
  externalAccountBinding?: { keyID: string; keySecretRef: { name: string; key: string } };
  limits: RateLimits;
}

/** By the name that `spec.issuerName` of a TenantGateway gives. */
export type IssuerTable = ReadonlyMap<string, IssuerEntry>;

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

const letsEncrypt = {
  'letsencrypt-prod': {
    server: 'https://acme-v02.api.letsencrypt.org/directory',
    limits: { certificatesPerDomain: { count: 50, periodMs: weekMs }, duplicates: { count: 5, periodMs: weekMs }, orders: { count: 300, periodMs: 3 * hourMs } },
  },
  'letsencrypt-stage': {
    server: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    limits: { certificatesPerDomain: { count: 30_000, periodMs: weekMs }, duplicates: { count: 30_000, periodMs: weekMs }, orders: { count: 1500, periodMs: 3 * hourMs } },
  },
} as const satisfies Record<(typeof defaultIssuerNames)[number], IssuerEntry>;

export const defaultIssuers: IssuerTable = new Map(Object.entries(letsEncrypt));

const fields = ['server', 'email', 'caBundle', 'externalAccountBinding', 'limits'];
const limitNames = ['certificatesPerDomain', 'duplicates', 'orders'] as const;

/**
 * The default issuers with those of a file: a map by name, whose entries replace field by field what is there.
 * @throws Error that names every fault
 */
export const issuersFrom = (text: unknown): IssuerTable => {
  const table = new Map(defaultIssuers);
  const faults: string[] = [];
  if (!isObject(text)) throw new Error('holds no map of issuers by name');
  for (const [name, given] of Object.entries(text)) {
    const say = (fault: string): void => void faults.push(`${name}: ${fault}`);
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) say('a name is lower case letters, digits and dashes, 63 at most');
    if (!isObject(given)) say('is no map');
    else table.set(name, entryFrom(given, table.get(name), say));
  }
  if (faults.length > 0) throw new Error(faults.join('; '));
  return table;
};

type Say = (fault: string) => void;
const entryFrom = (given: JsonObject, before: IssuerEntry | undefined, say: Say): IssuerEntry => {
  unknownFields(given, fields, say);
  const { server = before?.server, email, caBundle, externalAccountBinding, limits } = given;
  if (typeof server !== 'string' || !isHttps(server)) say('server: must be the https URL of an ACME directory');
  if (email !== undefined && !isFilled(email)) say('email: must be a text');
  return {
    server: String(server),
    ...(isFilled(email) && { email }),
    ...(caBundle !== undefined && { caBundle: bundleFrom(caBundle, say) }),
    ...(externalAccountBinding !== undefined && { externalAccountBinding: bindingFrom(externalAccountBinding, say) }),
    limits: limits === undefined ? (before?.limits ?? {}) : limitsFrom(limits, say),
  };
};

const bundleFrom = (given: unknown, say: Say): string => {
  const certificates = (typeof given === 'string' ? given : '').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) say('caBundle: must be certificates in PEM');
  return Buffer.from(`${certificates.join('\n')}\n`).toString('base64');
};

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
};

const bindingFrom = (given: unknown, say: Say): NonNullable<IssuerEntry['externalAccountBinding']> => {
  const { keyID, keySecretRef, ...more } = isObject(given) ? given : {};
  const { name, key, ...others } = isObject(keySecretRef) ? keySecretRef : {};
  if (!isFilled(keyID) || !isFilled(name) || !isFilled(key) || Object.keys({ ...more, ...others }).length > 0) say('externalAccountBinding: must be keyID and keySecretRef with name and key');
  return { keyID: String(keyID), keySecretRef: { name: String(name), key: String(key) } };
};

const limitsFrom = (given: unknown, say: Say): RateLimits => {
  if (!isObject(given)) {
    say('limits: is no map');
    return {};
  }
  unknownFields(given, limitNames, (fault) => say(`limits: ${fault}`));
  const limits: RateLimits = {};
  for (const name of limitNames) {
    if (given[name] === undefined) continue;
    const limit = limitFrom(given[name]);
    if (limit) limits[name] = limit;
    else say(`limits.${name}: must be count, a whole number above 0, and period, a duration like 168h`);
  }
  return limits;
};

const limitFrom = (given: unknown): Limit | undefined => {
  const { count, period, ...more } = isObject(given) ? given : {};
  const periodMs = typeof period === 'string' ? (goDurationMs(period) ?? 0) : 0;
  const sound = typeof count === 'number' && Number.isSafeInteger(count) && count > 0 && periodMs > 0;
  return sound && Object.keys(more).length === 0 ? { count, periodMs } : undefined;
};

const unknownFields = (given: JsonObject, known: readonly string[], say: Say): void => {
  for (const field of Object.keys(given)) if (!known.includes(field)) say(`${field}: is no field; there are ${known.join(', ')}`);
};

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'https:';
