import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { normalHost } from '../hostnames.ts';

/** What a TLS Secret holds, without its content. */
export interface TlsFacts {
  /** DNS names that the certificate is valid for, in lower case. */
  names: string[];
  /** Milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
}

/** A TLS Secret that can be served, or why it cannot: in words that tell nothing of its content. */
export type TlsResult = { facts: TlsFacts } | { fault: string };

/** Judges the content of a Secret of type kubernetes.io/tls, as bytes of PEM. What it does not tell by its result it forgets. */
export const judgeTls = (certificate: Buffer | undefined, key: Buffer | undefined): TlsResult => {
  if (!certificate?.length) return { fault: 'key tls.crt is missing or empty' };
  if (!key?.length) return { fault: 'key tls.key is missing or empty' };
  const leaf = parsed(() => new X509Certificate(certificate));
  if (!leaf) return { fault: 'tls.crt is no X.509 certificate in PEM' };
  const privateKey = parsed((): KeyObject => createPrivateKey(key));
  if (!privateKey) return { fault: 'tls.key is no private key in PEM, or is encrypted' };
  if (!leaf.checkPrivateKey(privateKey)) return { fault: 'tls.key does not belong to the first certificate of tls.crt' };
  return { facts: { names: dnsNames(leaf), notBefore: leaf.validFromDate.getTime(), notAfter: leaf.validToDate.getTime() } };
};

const parsed = <T>(parse: () => T): T | undefined => {
  try {
    return parse();
  } catch {
    return undefined; // the error may quote what it could not parse
  }
};

/** Clients look at these alone; a common name counts for nothing. Values with a comma or quote are quoted, and no DNS name has any. */
const dnsNames = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').flatMap((entry) => (entry.startsWith('DNS:') ? [normalHost(entry.slice('DNS:'.length))] : []));

/** Whether clients take a certificate with these names for a host; a wildcard covers one label, and itself. */
export const covers = (names: readonly string[], host: string): boolean => {
  const wanted = normalHost(host);
  const dot = wanted.indexOf('.');
  return names.includes(wanted) || (dot > 0 && names.includes(`*${wanted.slice(dot)}`));
};
