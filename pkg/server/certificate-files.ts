import { createSecureContext } from 'node:tls';
import { readFile } from 'node:fs/promises';
import { watchFile, unwatchFile } from 'node:fs';
import type { ServingCertificate } from './listener.ts';

/** Files in a mounted Secret are replaced through links, which polling sees and inotify does not. */
const pollMs = 5_000;

/** The serving certificate from two files, read again when they change. An unusable pair is reported and not used. */
export class CertificateFiles {
  readonly #files: readonly [string, string];
  readonly #onChange: (certificate: ServingCertificate) => void;
  readonly #onError: (error: unknown) => void;
  #current = '';

  constructor(certFile: string, keyFile: string, onChange: (certificate: ServingCertificate) => void, onError: (error: unknown) => void) {
    this.#files = [certFile, keyFile];
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /** @throws where the first pair is unusable */
  async start(): Promise<ServingCertificate> {
    const certificate = await this.#read();
    for (const file of this.#files) watchFile(file, { interval: pollMs, persistent: false }, () => void this.#reload());
    return certificate;
  }

  stop(): void {
    for (const file of this.#files) unwatchFile(file);
  }

  async #reload(): Promise<void> {
    try {
      const before = this.#current;
      const certificate = await this.#read();
      if (this.#current !== before) this.#onChange(certificate);
    } catch (error) {
      this.#onError(error); // half written, say: the next change is read again
    }
  }

  async #read(): Promise<ServingCertificate> {
    const [cert, key] = (await Promise.all(this.#files.map((file) => readFile(file, 'utf8')))) as [string, string];
    createSecureContext({ cert, key }); // throws unless they fit together
    this.#current = cert + key;
    return { cert, key };
  }
}
