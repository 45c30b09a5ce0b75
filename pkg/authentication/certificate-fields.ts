import type { X509Certificate } from 'node:crypto';
import forge from 'node-forge';

const { asn1, util } = forge;
type Asn1 = forge.asn1.Asn1;

/** What node:crypto does not say of a certificate, or says in a form that cannot be taken apart safely. */
export interface CertificateFields {
  /** The last one in the subject, as Go has it; empty where there is none. */
  commonName: string;
  organizations: readonly string[];
  /** Values of subject attribute 1.3.6.1.4.1.57683.2. */
  uids: readonly string[];
  /** basicConstraints; undefined where the extension is missing. */
  basicConstraints?: { ca: boolean; pathLength?: number };
  /** Whether keyUsage, where there is one, lets the key sign certificates. */
  maySignCertificates: boolean;
  /** OIDs; undefined where the extension is missing. */
  extendedKeyUsage?: readonly string[];
  hasNameConstraints: boolean;
  hasAlternativeNames: boolean;
  /** Critical extensions nobody here understands. */
  unhandledCritical: readonly string[];
  signatureAlgorithm: string;
  /** DER of the signature algorithm with its parameters, in latin1. */
  signatureParameters: string;
}

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  kubernetesUid: '1.3.6.1.4.1.57683.2',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Key usage, alternative names, constraints and usages are acted upon; of the rest none narrows what a key may do here. */
const handled = new Set<string>([...Object.values(oids), '2.5.29.14', '2.5.29.31', '2.5.29.32', '2.5.29.35']);

const parsed = new WeakMap<X509Certificate, CertificateFields>();

/**
 * Takes a certificate apart.
 * @throws Error where its DER is not what RFC 5280 asks for
 */
export const fieldsOf = (certificate: X509Certificate): CertificateFields => {
  let fields = parsed.get(certificate);
  if (!fields) {
    fields = parse(certificate.raw);
    parsed.set(certificate, fields);
  }
  return fields;
};

const parse = (raw: Buffer): CertificateFields => {
  const whole = childrenOf(decode(raw.toString('latin1')));
  const algorithm = required(whole[1]);
  let body = childrenOf(required(whole[0]));
  const versioned = isTagged(body[0], 0); // version 1 leaves the field out
  body = versioned ? body.slice(1) : body;
  const subject = attributesOf(required(body[4])); // serial, algorithm, issuer, validity, subject
  const extensions = extensionsOf(body.find((part) => isTagged(part, 3)));
  const values = (id: string): string[] => subject.filter((attribute) => attribute.id === id).map((attribute) => attribute.value);
  return {
    commonName: values(oids.commonName).at(-1) ?? '',
    organizations: values(oids.organization),
    uids: values(oids.kubernetesUid),
    basicConstraints: basicConstraintsOf(extensions.get(oids.basicConstraints)?.value),
    maySignCertificates: maySign(extensions.get(oids.keyUsage)?.value),
    extendedKeyUsage: usagesOf(extensions.get(oids.extendedKeyUsage)?.value),
    hasNameConstraints: extensions.has(oids.nameConstraints),
    hasAlternativeNames: extensions.has(oids.alternativeNames),
    unhandledCritical: [...extensions].filter(([id, { critical }]) => critical && !handled.has(id)).map(([id]) => id),
    signatureAlgorithm: oidOf(required(childrenOf(algorithm)[0])),
    signatureParameters: asn1.toDer(algorithm).getBytes(),
  };
};

// --- DER

// Bit strings stay opaque: what looks like DER inside a key or signature is none.
const decode = (bytes: string): Asn1 => asn1.fromDer(util.createBuffer(bytes), { strict: true, decodeBitStrings: false } as never);

const required = (part: Asn1 | undefined): Asn1 => {
  if (!part) throw new Error('the certificate ends too early');
  return part;
};

const childrenOf = (part: Asn1): Asn1[] => {
  if (!Array.isArray(part.value)) throw new Error('the certificate has a primitive value where a structure belongs');
  return part.value;
};

const bytesOf = (part: Asn1 | undefined): string => (typeof part?.value === 'string' ? part.value : '');
const isTagged = (part: Asn1 | undefined, tag: number): boolean => part?.tagClass === asn1.Class.CONTEXT_SPECIFIC && (part.type as number) === tag;
const isType = (part: Asn1 | undefined, type: forge.asn1.Type): part is Asn1 => part?.tagClass === asn1.Class.UNIVERSAL && part.type === type;

const oidOf = (part: Asn1): string => {
  if (!isType(part, asn1.Type.OID)) throw new Error('the certificate lacks an object identifier');
  return asn1.derToOid(bytesOf(part));
};

const attributesOf = (name: Asn1): { id: string; value: string }[] =>
  childrenOf(name)
    .flatMap(childrenOf)
    .flatMap((attribute) => {
      const [id, value] = childrenOf(attribute);
      const text = stringOf(required(value));
      return text === undefined ? [] : [{ id: oidOf(required(id)), value: text }];
    });

const stringOf = (part: Asn1): string | undefined => {
  if (part.tagClass !== asn1.Class.UNIVERSAL) return undefined;
  const bytes = Buffer.from(bytesOf(part), 'latin1');
  switch (part.type) {
    case asn1.Type.UTF8:
      return bytes.toString('utf8');
    case asn1.Type.BMPSTRING:
      return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : undefined;
    case asn1.Type.PRINTABLESTRING:
    case asn1.Type.IA5STRING:
      return bytes.toString('utf8');
    default:
      return [18, 20].includes(part.type as number) ? bytes.toString('utf8') : undefined; // NumericString, T61String
  }
};

const extensionsOf = (tagged: Asn1 | undefined): Map<string, { critical: boolean; value: Asn1 }> => {
  const extensions = new Map<string, { critical: boolean; value: Asn1 }>();
  if (!tagged) return extensions;
  for (const extension of childrenOf(required(childrenOf(tagged)[0]))) {
    const [id, ...rest] = childrenOf(extension);
    const critical = isType(rest[0], asn1.Type.BOOLEAN) && bytesOf(rest[0]) !== '\u0000';
    const name = oidOf(required(id));
    if (extensions.has(name)) throw new Error(`the certificate has extension ${name} twice`);
    extensions.set(name, { critical, value: insideOf(required(rest.at(-1)), handled.has(name)) });
  }
  return extensions;
};

/** The octet string of an extension holds DER; of an unknown one it may hold anything. */
const insideOf = (octets: Asn1, known: boolean): Asn1 => {
  if (Array.isArray(octets.value)) return required(octets.value[0]); // forge has looked inside already
  return known ? decode(bytesOf(octets)) : octets;
};

const basicConstraintsOf = (value: Asn1 | undefined): CertificateFields['basicConstraints'] => {
  if (!value) return undefined;
  const parts = childrenOf(value);
  const length = parts.find((part) => isType(part, asn1.Type.INTEGER));
  return {
    ca: parts.some((part) => isType(part, asn1.Type.BOOLEAN) && bytesOf(part) !== '\u0000'),
    ...(length && { pathLength: asn1.derToInteger(util.createBuffer(bytesOf(length))) }),
  };
};

const maySign = (value: Asn1 | undefined): boolean => {
  if (!value) return true;
  const bits = bytesOf(value); // the first byte counts unused bits
  return (bits.charCodeAt(1) & 0x04) !== 0;
};

const usagesOf = (value: Asn1 | undefined): string[] | undefined => value && childrenOf(value).map(oidOf);
