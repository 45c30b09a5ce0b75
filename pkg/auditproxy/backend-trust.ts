import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { Reflector } from '../kube/reflector.ts';

/** The certificate authorities that the backend's certificate has to come from; new connections go by what is current. */
export interface BackendTrust {
  /** PEM; undefined: those that Node trusts. */
  readonly current: string | undefined;
  /** @throws Error where there is nothing to begin with */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Undefined when the backend can be judged, else why not. */
  fault(): string | undefined;
}

/** Links that a kubelet replaces are seen by polling only. */
const pollMs = 5_000;

export const publicTrust: BackendTrust = {
  current: undefined,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  fault: () => undefined,
};

/** From a PEM file, read again when it changes. */
export class TrustFile implements BackendTrust {
  readonly #file: string;
  readonly #onError: (error: unknown) => void;
  current: string | undefined;

  constructor(file: string, onError: (error: unknown) => void) {
    this.#file = file;
    this.#onError = onError;
  }

  async start(): Promise<void> {
    this.current = usable(await readFile(this.#file, 'utf8'), this.#file);
    watchFile(this.#file, { interval: pollMs, persistent: false }, () => void this.#reload());
  }

  stop(): Promise<void> {
    unwatchFile(this.#file);
    return Promise.resolve();
  }

  fault(): undefined {
    return undefined;
  }

  async #reload(): Promise<void> {
    try {
      this.current = usable(await readFile(this.#file, 'utf8'), this.#file);
    } catch (error) {
      this.#onError(error); // half written, say: the next change is read again
    }
  }
}

interface Secret extends KubeObject {
  data?: Record<string, string>;
}

export interface TrustSecretOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  onError: (error: unknown) => void;
}

const entry = 'ca.crt';

/** From `ca.crt` of a Secret, which is watched. Requests wait for it at the backend's expense: without it none can be made. */
export class TrustSecret implements BackendTrust {
  readonly #reflector: Reflector<Secret>;
  readonly #what: string;
  readonly #onError: (error: unknown) => void;
  current: string | undefined;

  constructor({ client, namespace, name, onError }: TrustSecretOptions) {
    this.#what = `Secret ${namespace}/${name}`;
    this.#onError = onError;
    this.#reflector = new Reflector<Secret>(
      { client, path: `/api/v1/namespaces/${namespace}/secrets`, fieldSelector: `metadata.name=${name}`, onError },
      { replace: ([secret]) => this.#see(secret), event: (type, secret) => this.#see(type === 'DELETED' ? undefined : secret) },
    );
  }

  start(): Promise<void> {
    this.#reflector.start();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  fault(): string | undefined {
    return this.current === undefined ? `${this.#what} has not been read, or has no usable ${entry}` : undefined;
  }

  #see(secret: Secret | undefined): void {
    const encoded = secret?.data?.[entry];
    if (!encoded) return; // what was trusted before stays so
    try {
      this.current = usable(Buffer.from(encoded, 'base64').toString('utf8'), `${entry} of ${this.#what}`);
    } catch (error) {
      this.#onError(error);
    }
  }
}

const usable = (pem: string, where: string): string => {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`${where} holds no certificate in PEM`);
  createSecureContext({ ca: pem });
  return pem;
};
