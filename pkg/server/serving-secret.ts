import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { Reflector } from '../kube/reflector.ts';
import { createAuthority, loadAuthority, type Authority } from './certificates.ts';
import type { ServingCertificate } from './listener.ts';

const dayMs = 24 * 3600 * 1000;
const leafLifeMs = 365 * dayMs;
/** A certificate is issued anew when less than this is left of it. */
const renewBeforeMs = 60 * dayMs;

interface TlsSecret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

/** The certificate in a Secret, with the authority that clients are to trust. */
export interface SharedCertificate extends ServingCertificate {
  ca: string;
}

export interface ServingSecretOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  dnsNames: readonly string[];
  now?: () => Date;
  onError: (error: unknown) => void;
  /** Called with each new content of the Secret. */
  onChange: (certificate: SharedCertificate) => void;
}

/**
 * The serving certificate that all replicas share, in a Secret of type kubernetes.io/tls with `ca.crt` and `ca.key`. Every
 * replica watches it; the leader alone writes it.
 */
export class ServingSecret {
  readonly #options: ServingSecretOptions;
  readonly #reflector: Reflector<TlsSecret>;
  #current: SharedCertificate | undefined;

  constructor(options: ServingSecretOptions) {
    this.#options = options;
    this.#reflector = new Reflector<TlsSecret>(
      {
        client: options.client,
        path: this.#collection,
        fieldSelector: `metadata.name=${options.name}`,
        onError: options.onError,
      },
      {
        replace: ([secret]) => this.#see(secret),
        event: (type, secret) => this.#see(type === 'DELETED' ? undefined : secret),
      },
    );
  }

  start(): void {
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** The certificate that is in use, once there is one. */
  get current(): SharedCertificate | undefined {
    return this.#current;
  }

  /**
   * For the leader: issues a certificate where there is none, where it will expire soon, or where it does not name the
   * Service. The authority is kept as long as it lives, so that nobody's trust breaks at a renewal.
   */
  async ensure(): Promise<SharedCertificate> {
    const { client, name, dnsNames } = this.#options;
    const live = await client.json<{ items: TlsSecret[] }>({ path: this.#collection, query: { fieldSelector: `metadata.name=${name}` } });
    const secret = live.items[0];
    const certificate = certificateIn(secret);
    if (certificate && this.#serves(certificate)) return certificate;
    const authority = await this.#authority(secret);
    const leaf = await authority.issue({ commonName: dnsNames[0]!, dnsNames: [...dnsNames], usages: ['server'], notAfter: new Date(this.#now().getTime() + leafLifeMs) });
    const issued: SharedCertificate = { cert: leaf.certPem, key: leaf.keyPem, ca: authority.certPem };
    await this.#write(secret, issued, authority);
    return issued;
  }

  async #write(secret: TlsSecret | undefined, { cert, key, ca }: SharedCertificate, authority: Authority): Promise<void> {
    const { client, namespace, name } = this.#options;
    const data = { 'tls.crt': base64(cert), 'tls.key': base64(key), 'ca.crt': base64(ca), 'ca.key': base64(authority.keyPem) };
    const metadata = { name, namespace, labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' } };
    if (secret) {
      // the version makes two leaders conflict instead of overwriting each other
      const body = { ...secret, apiVersion: 'v1', kind: 'Secret', data: { ...secret.data, ...data } };
      await client.json({ method: 'PUT', path: `${this.#collection}/${name}`, body });
    } else {
      await client.json({ method: 'POST', path: this.#collection, body: { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data } });
    }
  }

  async #authority(secret: TlsSecret | undefined): Promise<Authority> {
    const certPem = text(secret, 'ca.crt');
    const keyPem = text(secret, 'ca.key');
    if (certPem && keyPem) {
      try {
        if (new Date(new X509Certificate(certPem).validTo).getTime() - this.#now().getTime() > leafLifeMs) return loadAuthority({ certPem, keyPem });
      } catch (error) {
        this.#options.onError(error); // an authority that cannot be read is replaced
      }
    }
    return createAuthority({ commonName: `${this.#options.dnsNames[0]}-ca` });
  }

  #serves({ cert }: SharedCertificate): boolean {
    try {
      const x509 = new X509Certificate(cert);
      const left = new Date(x509.validTo).getTime() - this.#now().getTime();
      return left > renewBeforeMs && this.#options.dnsNames.every((name) => x509.checkHost(name) !== undefined);
    } catch {
      return false;
    }
  }

  #see(secret: TlsSecret | undefined): void {
    const certificate = certificateIn(secret);
    if (!certificate || certificate.cert === this.#current?.cert) return;
    try {
      this.#options.onChange(certificate);
      this.#current = certificate;
    } catch (error) {
      this.#options.onError(error); // unusable content: what was in use stays in use
    }
  }

  get #collection(): string {
    return `/api/v1/namespaces/${this.#options.namespace}/secrets`;
  }

  #now(): Date {
    return (this.#options.now ?? (() => new Date()))();
  }
}

const certificateIn = (secret: TlsSecret | undefined): SharedCertificate | undefined => {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((entry) => text(secret, entry));
  return cert && key && ca ? { cert, key, ca } : undefined;
};

const text = (secret: TlsSecret | undefined, entry: string): string | undefined => {
  const value = secret?.data?.[entry];
  return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
};

const base64 = (value: string): string => Buffer.from(value).toString('base64');
