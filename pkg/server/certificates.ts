import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';

const { asn1, util } = forge;

export type KeyType = 'rsa' | 'ecdsa';
export type Usage = 'server' | 'client';

/** A certificate and its private key (PKCS#8), both PEM. */
export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CertificateRequest {
  commonName: string;
  /** Kubernetes reads these as the user's groups. */
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  /** IPv4 or IPv6 addresses in text form. */
  ipAddresses?: readonly string[];
  usages: readonly Usage[];
  /** The type of the new key; the authority's own type if left out. */
  keyType?: KeyType;
  /** Five minutes ago if left out, for clocks that are a little behind. */
  notBefore?: Date;
  /** One year from now if left out. */
  notAfter?: Date;
}

/** A certificate authority: its own certificate and key, and a way to issue under them. */
export interface Authority extends KeyPair {
  /** Makes a new key and a certificate for it. Throws RangeError on an unusable validity or IP address. */
  issue(request: CertificateRequest): Promise<KeyPair>;
}

export interface AuthorityRequest {
  commonName: string;
  /** ECDSA P-256 if left out; `rsa` is RSA 2048. */
  keyType?: KeyType;
  notBefore?: Date;
  /** Ten years from now if left out. */
  notAfter?: Date;
}

/** Makes a self-signed certificate authority that may sign end-entity certificates only. */
export const createAuthority = async (request: AuthorityRequest): Promise<Authority> => {
  const { publicKey, privateKey } = await newKeys(request.keyType ?? 'ecdsa');
  const name: Name = { commonName: request.commonName, organizations: [] };
  const certificate = encodeCertificate({
    subject: distinguishedName(name),
    issuer: distinguishedName(name),
    publicKey,
    signer: privateKey,
    validity: validityOf(request, 10 * 365),
    extensions: [
      extension('2.5.29.19', sequence(bool(true), integer('\x00')), true),
      extension('2.5.29.15', bits(CERT_SIGN | CRL_SIGN | DIGITAL_SIGNATURE), true),
      extension('2.5.29.14', octets(keyIdentifier(publicKey))),
      extension('2.5.29.35', authorityKeyIdentifier(publicKey)),
    ],
  });
  return loadAuthority({ certPem: pem('CERTIFICATE', certificate), keyPem: privateKeyPem(privateKey) });
};

/** An authority kept elsewhere. Throws if the two do not belong together or cannot be parsed. */
export const loadAuthority = ({ certPem, keyPem }: KeyPair): Authority => {
  const certificate = new X509Certificate(certPem);
  const signer = createPrivateKey(keyPem);
  if (!certificate.checkPrivateKey(signer)) throw new Error(`the private key is not the one of ${certificate.subject}`);
  const issuer = subjectOf(certificate);
  const issuerKey = createPublicKey(signer);
  const ownType: KeyType = signer.asymmetricKeyType === 'rsa' ? 'rsa' : 'ecdsa';

  const issue = async (request: CertificateRequest): Promise<KeyPair> => {
    const validity = validityOf(request, 365);
    const { publicKey, privateKey } = await newKeys(request.keyType ?? ownType);
    const alternatives = alternativeNames(request);
    const leaf = encodeCertificate({
      subject: distinguishedName({ commonName: request.commonName, organizations: request.organizations ?? [] }),
      issuer,
      publicKey,
      signer,
      validity,
      extensions: [
        extension('2.5.29.19', sequence(), true),
        extension('2.5.29.15', bits(publicKey.asymmetricKeyType === 'rsa' ? DIGITAL_SIGNATURE | KEY_ENCIPHERMENT : DIGITAL_SIGNATURE), true),
        extension('2.5.29.37', sequence(...request.usages.map((usage) => oid(USAGE_OIDS[usage])))),
        ...(alternatives.length > 0 ? [extension('2.5.29.17', sequence(...alternatives))] : []),
        extension('2.5.29.14', octets(keyIdentifier(publicKey))),
        extension('2.5.29.35', authorityKeyIdentifier(issuerKey)),
      ],
    });
    return { certPem: pem('CERTIFICATE', leaf), keyPem: privateKeyPem(privateKey) };
  };
  return { certPem, keyPem, issue };
};

// --- X.509 in DER. node-forge encodes ASN.1 but signs with RSA only, so node:crypto makes keys and signatures.

type Asn1 = forge.asn1.Asn1;
interface Name { commonName: string; organizations: readonly string[] }
interface Validity { notBefore: Date; notAfter: Date }

interface CertificateParts {
  subject: Asn1;
  issuer: Asn1;
  publicKey: KeyObject;
  signer: KeyObject;
  validity: Validity;
  extensions: Asn1[];
}

const DIGITAL_SIGNATURE = 0x80;
const KEY_ENCIPHERMENT = 0x20;
const CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;
const USAGE_OIDS: Record<Usage, string> = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

const universal = (type: forge.asn1.Type, value: string | Asn1[]): Asn1 =>
  asn1.create(asn1.Class.UNIVERSAL, type, typeof value !== 'string', value);
const tagged = (tag: number, value: string | Asn1[]): Asn1 =>
  asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, typeof value !== 'string', value);
const sequence = (...items: Asn1[]): Asn1 => universal(asn1.Type.SEQUENCE, items);
const oid = (dotted: string): Asn1 => universal(asn1.Type.OID, asn1.oidToDer(dotted).getBytes());
const bool = (value: boolean): Asn1 => universal(asn1.Type.BOOLEAN, value ? '\xff' : '\x00');
const integer = (bytes: string): Asn1 => universal(asn1.Type.INTEGER, bytes);
const octets = (bytes: string): Asn1 => universal(asn1.Type.OCTETSTRING, bytes);
// The leading byte counts the unused low bits of the mask.
const bits = (mask: number): Asn1 => universal(asn1.Type.BITSTRING, String.fromCharCode(31 - Math.clz32(mask & -mask), mask));
const extension = (id: string, value: Asn1, critical = false): Asn1 =>
  sequence(oid(id), ...(critical ? [bool(true)] : []), octets(asn1.toDer(value).getBytes()));

const distinguishedName = ({ commonName, organizations }: Name): Asn1 =>
  sequence(...organizations.map((value) => nameAttribute('2.5.4.10', value)), nameAttribute('2.5.4.3', commonName));
const nameAttribute = (id: string, value: string): Asn1 =>
  universal(asn1.Type.SET, [sequence(oid(id), universal(asn1.Type.UTF8, util.encodeUtf8(value)))]);

const alternativeNames = ({ dnsNames = [], ipAddresses = [] }: CertificateRequest): Asn1[] => [
  ...dnsNames.map((name) => tagged(2, name)),
  ...ipAddresses.map((address) => {
    const bytes = addressBytes(address);
    if (bytes === null) throw new RangeError(`not an IP address: ${address}`);
    return tagged(7, bytes);
  }),
];

// @types/node-forge lacks it.
const addressBytes = (util as unknown as { bytesFromIP(this: void, address: string): string | null }).bytesFromIP;

const validityOf = (request: { notBefore?: Date; notAfter?: Date }, days: number): Validity => {
  const notBefore = request.notBefore ?? new Date(Date.now() - 5 * 60_000);
  const notAfter = request.notAfter ?? new Date(Date.now() + days * 86_400_000);
  if (!(notBefore < notAfter)) throw new RangeError(`a certificate cannot end (${String(notAfter)}) before it begins (${String(notBefore)})`);
  return { notBefore, notAfter };
};

// RFC 5280: UTCTime up to 2049, GeneralizedTime from 2050 on.
const time = (date: Date): Asn1 =>
  date.getUTCFullYear() < 2050
    ? universal(asn1.Type.UTCTIME, asn1.dateToUtcTime(date))
    : universal(asn1.Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));

const encodeCertificate = ({ subject, issuer, publicKey, signer, validity, extensions }: CertificateParts): Buffer => {
  const algorithm = signer.asymmetricKeyType === 'rsa'
    ? sequence(oid('1.2.840.113549.1.1.11'), universal(asn1.Type.NULL, '')) // sha256WithRSAEncryption
    : sequence(oid('1.2.840.10045.4.3.2')); // ecdsa-with-SHA256, whose parameters must be absent
  const body = sequence(
    tagged(0, [integer('\x02')]), // v3
    integer(serialNumber()),
    algorithm,
    issuer,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    parse(spki(publicKey)),
    tagged(3, [sequence(...extensions)]),
  );
  const signature = sign('sha256', der(body), signer);
  return der(sequence(body, algorithm, universal(asn1.Type.BITSTRING, `\x00${signature.toString('latin1')}`)));
};

const serialNumber = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40; // positive, and no leading zero to trim
  return bytes.toString('latin1');
};

const der = (value: Asn1): Buffer => Buffer.from(asn1.toDer(value).getBytes(), 'latin1');
// Bit strings stay opaque: decoding and encoding again could change a key's bytes.
const parse = (bytes: Buffer): Asn1 => asn1.fromDer(util.createBuffer(bytes.toString('latin1')), { strict: true, decodeBitStrings: false } as never);
const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** RFC 5280, 4.2.1.2 (1): SHA-1 of the public key's bits. */
const keyIdentifier = (key: KeyObject): string => {
  const bitString = (parse(spki(key)).value as Asn1[])[1]?.value;
  if (typeof bitString !== 'string') throw new Error('unexpected shape of a public key');
  return createHash('sha1').update(Buffer.from(bitString.slice(1), 'latin1')).digest().toString('latin1');
};
const authorityKeyIdentifier = (key: KeyObject): Asn1 => sequence(tagged(0, keyIdentifier(key)));

/** The encoded subject exactly as it stands in the certificate: chains are matched byte by byte. */
const subjectOf = (certificate: X509Certificate): Asn1 => {
  const body = (parse(certificate.raw).value as Asn1[])[0]?.value as Asn1[];
  const subject = body[5]; // version, serial, algorithm, issuer, validity, subject
  if (subject === undefined) throw new Error('unexpected shape of a certificate');
  return subject;
};

const generate = promisify(generateKeyPair);
const newKeys = (type: KeyType): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> =>
  type === 'rsa' ? generate('rsa', { modulusLength: 2048 }) : generate('ec', { namedCurve: 'P-256' });

const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
