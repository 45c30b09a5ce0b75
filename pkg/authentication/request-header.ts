import type { X509Certificate } from 'node:crypto';
import type { Authenticator } from './authenticator.ts';
import { fieldsOf } from './certificate-fields.ts';
import { extraLines, headerLine, headerLines, type HeaderSelection } from './headers.ts';
import { CertificateError, peerVerifier, type TrustAnchors } from './x509.ts';

/** Whom to believe what headers say, and which headers say it. */
export interface RequestHeaderConfig extends TrustAnchors {
  /** Common names a front proxy may have; empty: any. */
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
}

/** An authenticator that also tells whether a connection is the front proxy's. */
export interface RequestHeaderAuthenticator extends Authenticator {
  isFrontProxy: (peer: readonly X509Certificate[]) => boolean;
}

/** Believes the headers of a front proxy that proves itself by a client certificate. `config` gives what counts now. */
export const requestHeaderAuthenticator = (config: () => RequestHeaderConfig | undefined, now: () => number = Date.now): RequestHeaderAuthenticator => {
  const verify = peerVerifier('clientAuth', now);
  const checkProxy = (peer: readonly X509Certificate[], current: RequestHeaderConfig): void => {
    verify(peer, current);
    const { commonName } = fieldsOf(peer[0]!);
    if (current.allowedNames.length > 0 && !current.allowedNames.includes(commonName)) {
      throw new CertificateError(`subject with cn=${commonName} is not in the allowed list`);
    }
  };
  return {
    isFrontProxy(peer) {
      const current = config();
      if (!current || peer.length === 0) return false;
      try {
        checkProxy(peer, current);
        return true;
      } catch {
        return false;
      }
    },

    // oxlint-disable-next-line require-await
    async authenticate({ rawHeaders, peerCertificates }) {
      const current = config();
      const peer = current ? peerCertificates() : [];
      if (!current || peer.length === 0) return undefined;
      checkProxy(peer, current);
      const username = firstOf(rawHeaders, current.usernameHeaders);
      if (username === '') return undefined;
      const uid = firstOf(rawHeaders, current.uidHeaders);
      return {
        username,
        ...(uid && { uid }),
        groups: current.groupHeaders.flatMap((name) => headerLines(rawHeaders, name)).filter((group) => group !== ''),
        extra: extraOf(rawHeaders, current.extraHeaderPrefixes),
      };
    },
  };
};

const selections = new WeakMap<RequestHeaderConfig, HeaderSelection>();
const noHeaders: HeaderSelection = { names: [], prefixes: [] };

/** The headers in which such a configuration carries identities; the same object for each request, since it is asked for by each. */
export const identityHeadersOf = (config: RequestHeaderConfig | undefined): HeaderSelection => {
  if (!config) return noHeaders;
  let selection = selections.get(config);
  if (!selection) {
    selection = { names: [...config.usernameHeaders, ...config.uidHeaders, ...config.groupHeaders], prefixes: config.extraHeaderPrefixes };
    selections.set(config, selection);
  }
  return selection;
};

const firstOf = (rawHeaders: readonly string[], names: readonly string[]): string => {
  for (const name of names) {
    const value = headerLine(rawHeaders, name);
    if (value !== '') return value;
  }
  return '';
};

const extraOf = (rawHeaders: readonly string[], prefixes: readonly string[]): Record<string, string[]> => {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const [key, values] of extraLines(rawHeaders, prefix)) extra.set(key, [...(extra.get(key) ?? []), ...values]);
  }
  return Object.fromEntries(extra);
};
