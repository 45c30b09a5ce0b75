import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { Reflector, type ReflectorHandler } from '../kube/reflector.ts';
import { hasCode } from '../kube/status-error.ts';
import type { RequestHeaderConfig } from './request-header.ts';
import { readBundle, type TrustAnchors } from './x509.ts';

/** What the kube-apiserver tells aggregated servers about its own authentication. A part that it does not hold is undefined. */
export interface DelegationConfig {
  requestHeader?: RequestHeaderConfig;
  clientCertificate?: TrustAnchors;
}

const configMapNamespace = 'kube-system';
const configMapName = 'extension-apiserver-authentication';

const configMap = `ConfigMap ${configMapNamespace}/${configMapName}`;

/**
 * Reads the ConfigMap's data. A part that cannot be read stays as `previous` has it, with a fault; a part that is missing is gone:
 * what nobody vouches for any more is not trusted. A part that did not change is the same object as before.
 */
export const parseDelegationConfig = (data: Readonly<Record<string, string>>, previous: DelegationConfig = {}): { config: DelegationConfig; faults: string[] } => {
  const faults: string[] = [];
  const part = <T>(name: string, last: T | undefined, read: () => T | undefined): T | undefined => {
    try {
      return read();
    } catch (error) {
      faults.push(`${configMap}, ${name}: ${(error as Error).message}`);
      return last;
    }
  };
  const config: DelegationConfig = {
    requestHeader: part('requestheader-*', previous.requestHeader, () => requestHeaderOf(data, previous.requestHeader)),
    clientCertificate: part('client-ca-file', previous.clientCertificate, () => anchorsOf(data['client-ca-file'], previous.clientCertificate)),
  };
  return { config, faults };
};

const requestHeaderOf = (data: Readonly<Record<string, string>>, previous: RequestHeaderConfig | undefined): RequestHeaderConfig | undefined => {
  const bundle = data['requestheader-client-ca-file'];
  if (!bundle) return undefined;
  const next: RequestHeaderConfig = {
    roots: readBundle(bundle),
    allowedNames: stringsOf(data['requestheader-allowed-names']),
    usernameHeaders: stringsOf(data['requestheader-username-headers']),
    uidHeaders: stringsOf(data['requestheader-uid-headers']),
    groupHeaders: stringsOf(data['requestheader-group-headers']),
    // An empty beginning would make every header of a request an extra value.
    extraHeaderPrefixes: stringsOf(data['requestheader-extra-headers-prefix']).filter((prefix) => prefix !== ''),
  };
  return previous && keyOf(previous) === keyOf(next) ? previous : next;
};

const anchorsOf = (bundle: string | undefined, previous: TrustAnchors | undefined): TrustAnchors | undefined => {
  if (!bundle) return undefined;
  const next = { roots: readBundle(bundle) };
  return previous && keyOf(previous) === keyOf(next) ? previous : next;
};

const keyOf = (part: TrustAnchors): string => JSON.stringify({ ...part, roots: part.roots.map((root) => root.fingerprint512) });

const stringsOf = (json: string | undefined): string[] => {
  if (!json) return [];
  const list: unknown = JSON.parse(json);
  if (list === null) return [];
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) throw new Error(`${json} is not a list of strings`);
  return list;
};

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** Feeds a handler from the ConfigMap's collection. */
export type ConfigMapSource = (handler: ReflectorHandler<ConfigMap>, onError: (error: unknown) => void) => { start(): void; stop(): Promise<void> };

/** The one ConfigMap, through a list and watch that the role extension-apiserver-authentication-reader permits. */
export const configMapSource =
  (client: KubeClient): ConfigMapSource =>
  (handler, onError) =>
    new Reflector({ client, path: `/api/v1/namespaces/${configMapNamespace}/configmaps`, fieldSelector: `metadata.name=${configMapName}`, onError }, handler);

/**
 * Keeps the content of the ConfigMap: `current` is what counts for the next request, on open connections too. Once read, it holds
 * while the kube-apiserver is away or the ConfigMap is missing; the kube-apiserver itself writes it anew.
 */
export class DelegationConfigWatcher {
  readonly #reflector: { start(): void; stop(): Promise<void> };
  readonly #onFault: (fault: string) => void;
  readonly #onFrontChange: () => void;
  #current: DelegationConfig = {};
  #read = false;
  #whyNot = `${configMap} has not been read yet`;

  /** @param onFrontChange told when who the front proxy is, or what it says, has changed */
  constructor(source: ConfigMapSource, onFault: (fault: string) => void, onFrontChange: () => void = () => undefined) {
    this.#onFault = onFault;
    this.#onFrontChange = onFrontChange;
    this.#reflector = source(
      {
        replace: (items) => this.#see(items.find((item) => item.metadata.name === configMapName)),
        event: (type, item) => {
          if (item.metadata.name === configMapName) this.#see(type === 'DELETED' ? undefined : item);
        },
      },
      (error) => this.#fail(error),
    );
  }

  get current(): DelegationConfig {
    return this.#current;
  }

  start(): void {
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** Undefined once the ConfigMap has been read, else why it has not been. */
  ready(): string | undefined {
    return this.#read ? undefined : this.#whyNot;
  }

  #see(item: ConfigMap | undefined): void {
    if (!item) {
      this.#whyNot = `${configMap} does not exist; the kube-apiserver writes it when it starts`;
      this.#onFault(this.#whyNot);
      return;
    }
    const before = this.#current.requestHeader;
    const { config, faults } = parseDelegationConfig(item.data ?? {}, this.#current);
    this.#current = config;
    for (const fault of faults) this.#onFault(fault);
    if (config.requestHeader !== before) this.#onFrontChange();
    if (!config.requestHeader && !config.clientCertificate && !this.#read) {
      this.#whyNot = faults.length > 0 ? faults.join('; ') : `${configMap} holds neither requestheader-client-ca-file nor client-ca-file`;
      return;
    }
    this.#read = true;
  }

  #fail(error: unknown): void {
    const remedy = hasCode(error, 403) ? `; bind the role extension-apiserver-authentication-reader in namespace ${configMapNamespace} to this server's ServiceAccount` : '';
    this.#whyNot = `${configMap} cannot be read: ${(error as Error).message}${remedy}`;
    this.#onFault(this.#whyNot);
  }
}
