import { X509Certificate } from 'node:crypto';
import { fieldsOf, type CertificateFields } from './certificate-fields.ts';

export type ExtendedKeyUsage = 'clientAuth' | 'serverAuth';

/** A certificate that cannot be trusted, and why. */
export class CertificateError extends Error {
  constructor(message: string, cause?: unknown) {
    super(`x509: ${message}`, { cause });
    this.name = 'CertificateError';
  }
}

/** From the leaf to the root; good as long as each of its certificates is. */
export interface VerifiedChain {
  certificates: readonly X509Certificate[];
  /** Milliseconds since the epoch. */
  validFrom: number;
  validTo: number;
}

const usageOids: Record<ExtendedKeyUsage, string> = { clientAuth: '1.3.6.1.5.5.7.3.2', serverAuth: '1.3.6.1.5.5.7.3.1' };
const anyUsage = '2.5.29.37.0';

/** RSA (PKCS #1 and PSS) and ECDSA with SHA-2, Ed25519: what Go accepts. */
const strongSignatures = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]);
const pss = '1.2.840.113549.1.1.10';
/** DER of 2.16.840.1.101.3.4.2.{1,2,3}: SHA-256, SHA-384, SHA-512. Without parameters PSS means SHA-1. */
// oxlint-disable-next-line no-control-regex
const sha2InParameters = /\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02[\x01-\x03]/;
const minRsaBits = 1024;

/** A peer chooses its intermediates: bounds on what it can make us compute. */
const maxSignatureChecks = 100;
const maxDepth = 10;

/**
 * Finds a chain from `leaf` to one of `roots`, as Go's crypto/x509 would. Name constraints are not evaluated: an issuer that has
 * them is refused for a leaf with alternative names.
 * @throws CertificateError
 */
export const verifyChain = (
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: Date,
  usage: ExtendedKeyUsage,
): VerifiedChain => {
  const search = { intermediates, roots, now: now.getTime(), usage, leafHasNames: read(leaf).hasAlternativeNames, checks: 0 };
  const faults: CertificateError[] = [];
  checkAlone(leaf, search.now);
  const found = roots.some((root) => root.raw.equals(leaf.raw)) ? usableChain([leaf], search, faults) : extend([leaf], search, faults);
  if (found) return found;
  throw faults[0] ?? new CertificateError('certificate signed by unknown authority');
};

interface Search {
  intermediates: readonly X509Certificate[];
  roots: readonly X509Certificate[];
  now: number;
  usage: ExtendedKeyUsage;
  leafHasNames: boolean;
  checks: number;
}

const extend = (chain: readonly X509Certificate[], search: Search, faults: CertificateError[]): VerifiedChain | undefined => {
  const subject = chain.at(-1)!;
  for (const [candidates, isRoot] of [[search.roots, true], [search.intermediates, false]] as const) {
    for (const issuer of candidates) {
      if (issuer.subject !== subject.issuer) continue;
      try {
        if (chain.some((member) => isSame(member, issuer))) continue;
        checkIssuer(issuer, subject, chain.length - 1, search);
      } catch (error) {
        faults.push(asFault(error));
        continue;
      }
      const longer = [...chain, issuer];
      const found = isRoot ? usableChain(longer, search, faults) : longer.length < maxDepth ? extend(longer, search, faults) : undefined;
      if (found) return found;
    }
  }
  return undefined;
};

const isSame = (a: X509Certificate, b: X509Certificate): boolean => a.raw.equals(b.raw) || (a.subject === b.subject && a.publicKey.equals(b.publicKey));

const checkIssuer = (issuer: X509Certificate, subject: X509Certificate, intermediatesBelow: number, search: Search): void => {
  const fields = checkAlone(issuer, search.now);
  if (!fields.basicConstraints?.ca) throw new CertificateError(`${nameOf(issuer)} is not authorized to sign other certificates`);
  if (!fields.maySignCertificates) throw new CertificateError(`the key of ${nameOf(issuer)} may not sign certificates`);
  if ((fields.basicConstraints.pathLength ?? Infinity) < intermediatesBelow) throw new CertificateError(`too many intermediates below ${nameOf(issuer)}`);
  if (fields.hasNameConstraints && search.leafHasNames) throw new CertificateError(`${nameOf(issuer)} has name constraints, which are not supported`);
  search.checks += 1;
  if (search.checks > maxSignatureChecks) throw new CertificateError('signature check attempts limit reached while verifying certificate chain');
  checkSignatureStrength(subject, issuer);
  if (!subject.verify(issuer.publicKey)) throw new CertificateError(`certificate signed by unknown authority: ${nameOf(issuer)} has the issuer's name and another key`);
};

const checkSignatureStrength = (subject: X509Certificate, issuer: X509Certificate): void => {
  const { signatureAlgorithm, signatureParameters } = read(subject);
  const strong = signatureAlgorithm === pss ? sha2InParameters.test(signatureParameters) : strongSignatures.has(signatureAlgorithm);
  if (!strong) throw new CertificateError(`cannot verify signature: insecure or unknown algorithm ${signatureAlgorithm}`);
  const bits = issuer.publicKey.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < minRsaBits) throw new CertificateError(`the RSA key of ${nameOf(issuer)} has ${bits} bits`);
};

const checkAlone = (certificate: X509Certificate, now: number): CertificateFields => {
  const fields = read(certificate);
  const from = certificate.validFromDate.getTime();
  const to = certificate.validToDate.getTime();
  // Comparisons with NaN are false: a date that cannot be read is refused.
  if (!(now >= from)) throw new CertificateError(`certificate has expired or is not yet valid: current time ${iso(now)} is before ${iso(from)}`);
  if (!(now <= to)) throw new CertificateError(`certificate has expired or is not yet valid: current time ${iso(now)} is after ${iso(to)}`);
  if (fields.unhandledCritical.length > 0) throw new CertificateError(`unhandled critical extension ${fields.unhandledCritical.join(', ')}`);
  return fields;
};

const iso = (time: number): string => (Number.isNaN(time) ? 'an unreadable date' : new Date(time).toISOString());

/** Extended key usage narrows down the whole chain; a certificate without the extension narrows nothing. */
const usableChain = (certificates: readonly X509Certificate[], search: Search, faults: CertificateError[]): VerifiedChain | undefined => {
  const permitted = certificates.every((certificate) => {
    const usages = read(certificate).extendedKeyUsage;
    return !usages || usages.length === 0 || usages.includes(anyUsage) || usages.includes(usageOids[search.usage]);
  });
  if (!permitted) {
    faults.push(new CertificateError('certificate specifies an incompatible key usage'));
    return undefined;
  }
  return {
    certificates,
    validFrom: Math.max(...certificates.map((certificate) => certificate.validFromDate.getTime())),
    validTo: Math.min(...certificates.map((certificate) => certificate.validToDate.getTime())),
  };
};

const read = (certificate: X509Certificate): CertificateFields => {
  try {
    return fieldsOf(certificate);
  } catch (error) {
    throw asFault(error);
  }
};

const asFault = (error: unknown): CertificateError => (error instanceof CertificateError ? error : new CertificateError(`malformed certificate: ${(error as Error).message}`, error));

const nameOf = (certificate: X509Certificate): string => JSON.stringify((certificate.subject ?? '').replaceAll('\n', ', '));

/** A set of roots; a change makes a new object, which is what verifications are remembered under. */
export interface TrustAnchors {
  roots: readonly X509Certificate[];
}

/**
 * Reads the CERTIFICATE blocks of a PEM bundle.
 * @throws Error where one cannot be parsed, or there is none
 */
export const readBundle = (pem: string): X509Certificate[] => {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('data does not contain any valid certificates');
  return blocks.map((block) => new X509Certificate(block));
};

interface Remembered {
  anchors: TrustAnchors;
  outcome: VerifiedChain | CertificateError;
  from: number;
  until: number;
}

/** A refusal is looked at again after a while: certificates become valid with time. */
const refusalTtlMs = 1_000;

/** Verifies what peers present; each connection's outcome is remembered until the roots change or a certificate ends. */
export const peerVerifier = (usage: ExtendedKeyUsage, now: () => number): ((peer: readonly X509Certificate[], anchors: TrustAnchors) => VerifiedChain) => {
  const remembered = new WeakMap<readonly X509Certificate[], Remembered>();
  return (peer, anchors) => {
    const time = now();
    let entry = remembered.get(peer);
    if (!entry || entry.anchors !== anchors || time < entry.from || time > entry.until) {
      entry = { anchors, ...verify(peer, anchors, time, usage) };
      remembered.set(peer, entry);
    }
    if (entry.outcome instanceof CertificateError) throw entry.outcome;
    return entry.outcome;
  };
};

const verify = (peer: readonly X509Certificate[], { roots }: TrustAnchors, time: number, usage: ExtendedKeyUsage): Omit<Remembered, 'anchors'> => {
  try {
    const chain = verifyChain(peer[0]!, peer.slice(1), roots, new Date(time), usage);
    return { outcome: chain, from: chain.validFrom, until: chain.validTo };
  } catch (error) {
    return { outcome: asFault(error), from: time, until: time + refusalTtlMs };
  }
};
