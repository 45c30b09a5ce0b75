import { makeCertificate, type Fixture, type FixtureRequest } from '../../authentication/certificate-fixtures.ts';
import { tlsType, type Secret } from './facts.ts';

/** Lengths are below 65,536. */
const tlv = (tag: number, content: string): string => {
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return `${String.fromCodePoint(tag, ...size)}${content}`;
};

/** A certificate for these names, with its key, as tests need it. */
export const makeServer = (hosts: readonly string[], request: FixtureRequest = {}): Fixture =>
  makeCertificate({ commonName: 'server', extensions: [['2.5.29.17', false, tlv(0x30, hosts.map((host) => tlv(0x82, host)).join(''))]], ...request });

/** A Secret of type kubernetes.io/tls. */
export const tlsSecret = (namespace: string, name: string, { certPem, keyPem }: Pick<Fixture, 'certPem' | 'keyPem'>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
  type: tlsType,
  data: { 'tls.crt': Buffer.from(certPem).toString('base64'), 'tls.key': Buffer.from(keyPem).toString('base64') },
});
