import { generateKeyPairSync, sign, X509Certificate, type KeyObject } from 'node:crypto';
import forge from 'node-forge';

const { asn1, util } = forge;
type Asn1 = forge.asn1.Asn1;

export type FixtureKey = 'ed25519' | 'ecdsa' | 'rsa';

/** A certificate for tests: everything that makes one trustworthy or not can be set. */
export interface FixtureRequest {
  commonName?: string;
  /** Further subject attributes, by OID. */
  attributes?: readonly (readonly [oid: string, value: string])[];
  /** Signs itself where absent. */
  issuer?: Fixture;
  /** Of its own key, or of one that is used again. */
  key?: FixtureKey | Fixture;
  ca?: boolean;
  pathLength?: number;
  keyUsage?: number;
  usages?: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
  /** Whole extensions: OID, critical, DER. */
  extensions?: readonly (readonly [oid: string, critical: boolean, value: string])[];
  hash?: 'sha256' | 'sha1';
}

export interface Fixture {
  certificate: X509Certificate;
  certPem: string;
  keyPem: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export const clientAuth = '1.3.6.1.5.5.7.3.2';
export const serverAuth = '1.3.6.1.5.5.7.3.1';
export const certSign = 0x04;

const day = 86_400_000;

export const makeCertificate = (request: FixtureRequest = {}): Fixture => {
  const { key = 'ecdsa', hash = 'sha256' } = request;
  const { publicKey, privateKey } = typeof key === 'string' ? newKeys(key) : key;
  const subject = nameOf(request);
  const signer = request.issuer?.privateKey ?? privateKey;
  const algorithm = algorithmOf(signer, hash);
  const issuerName = request.issuer ? subjectOf(request.issuer.certificate) : subject;
  const body = sequence(
    tagged(0, [universal(asn1.Type.INTEGER, '\u0002')]),
    universal(asn1.Type.INTEGER, `\u0001${String.fromCharCode(...crypto.getRandomValues(new Uint8Array(8)))}`),
    algorithm,
    issuerName,
    sequence(time(request.notBefore ?? new Date(Date.now() - day)), time(request.notAfter ?? new Date(Date.now() + day))),
    subject,
    parse(publicKey.export({ type: 'spki', format: 'der' })),
    tagged(3, [sequence(...extensionsOf(request))]),
  );
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : hash, der(body), signer);
  const raw = der(sequence(body, algorithm, universal(asn1.Type.BITSTRING, `\u0000${signature.toString('latin1')}`)));
  const certificate = new X509Certificate(raw);
  return { certificate, certPem: certificate.toString(), keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), privateKey, publicKey };
};

/** A root, or an intermediate below `issuer`. */
export const makeAuthority = (request: FixtureRequest = {}): Fixture => makeCertificate({ commonName: 'authority', ca: true, ...request });

/** A client's certificate below `issuer`. */
export const makeClient = (issuer: Fixture, request: FixtureRequest = {}): Fixture => makeCertificate({ commonName: 'client', usages: [clientAuth], issuer, ...request });

const newKeys = (type: FixtureKey): { publicKey: KeyObject; privateKey: KeyObject } => {
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
};

const algorithmOf = (signer: KeyObject, hash: 'sha256' | 'sha1'): Asn1 => {
  if (signer.asymmetricKeyType === 'ed25519') return sequence(oid('1.3.101.112'));
  if (signer.asymmetricKeyType === 'ec') return sequence(oid(hash === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
  return sequence(oid(hash === 'sha1' ? '1.2.840.113549.1.1.5' : '1.2.840.113549.1.1.11'), universal(asn1.Type.NULL, ''));
};

const nameOf = ({ commonName, attributes = [] }: FixtureRequest): Asn1 =>
  sequence(
    ...[...attributes, ...(commonName === undefined ? [] : [['2.5.4.3', commonName] as const])].map(([id, value]) =>
      universal(asn1.Type.SET, [sequence(oid(id), universal(asn1.Type.UTF8, util.encodeUtf8(value)))]),
    ),
  );

const extensionsOf = ({ ca, pathLength, keyUsage, usages, extensions = [] }: FixtureRequest): Asn1[] => {
  const length = pathLength === undefined ? [] : [universal(asn1.Type.INTEGER, String.fromCharCode(pathLength))];
  return [
    extension('2.5.29.19', true, der(ca ? sequence(universal(asn1.Type.BOOLEAN, '\u00ff'), ...length) : sequence()).toString('latin1')),
    ...(keyUsage === undefined ? [] : [extension('2.5.29.15', true, der(universal(asn1.Type.BITSTRING, `\u0000${String.fromCharCode(keyUsage)}`)).toString('latin1'))]),
    ...(usages ? [extension('2.5.29.37', false, der(sequence(...usages.map(oid))).toString('latin1'))] : []),
    ...extensions.map(([id, critical, value]) => extension(id, critical, value)),
  ];
};

const extension = (id: string, critical: boolean, value: string): Asn1 =>
  sequence(oid(id), ...(critical ? [universal(asn1.Type.BOOLEAN, '\u00ff')] : []), universal(asn1.Type.OCTETSTRING, value));

const universal = (type: forge.asn1.Type, value: string | Asn1[]): Asn1 => asn1.create(asn1.Class.UNIVERSAL, type, typeof value !== 'string', value);
const tagged = (tag: number, value: Asn1[]): Asn1 => asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, true, value);
const sequence = (...items: Asn1[]): Asn1 => universal(asn1.Type.SEQUENCE, items);
const oid = (dotted: string): Asn1 => universal(asn1.Type.OID, asn1.oidToDer(dotted).getBytes());
const time = (date: Date): Asn1 => universal(asn1.Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date) as unknown as string);
const der = (value: Asn1): Buffer => Buffer.from(asn1.toDer(value).getBytes(), 'latin1');
const parse = (bytes: Buffer): Asn1 => asn1.fromDer(util.createBuffer(bytes.toString('latin1')), { strict: true, decodeBitStrings: false } as never);
const subjectOf = (certificate: X509Certificate): Asn1 => ((parse(certificate.raw).value as Asn1[])[0]!.value as Asn1[])[5]!;
