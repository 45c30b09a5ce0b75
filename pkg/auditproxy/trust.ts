import type { X509Certificate } from 'node:crypto';
import { DelegationConfigWatcher, type ConfigMapSource } from '../authentication/delegation-config.ts';
import type { HeaderSelection } from '../authentication/headers.ts';
import { peerCertificatesOf } from '../authentication/peer.ts';
import { identityHeadersOf, requestHeaderAuthenticator, type RequestHeaderAuthenticator } from '../authentication/request-header.ts';
import type { UserInfo } from '../authentication/user.ts';

/** Why a request is not the front's, for metrics. */
export type Refusal = 'no_certificate' | 'untrusted_certificate' | 'no_user' | 'bad_target';

/** A request that is not believed. The message is for the log; the client learns nothing but 401. */
export class RefusedError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.refusal = refusal;
  }
}

/** How long the first reading of the ConfigMap may take. */
const firstReadingMs = 15_000;
const lookMs = 50;

/** Who the front is, from the ConfigMap that the kube-apiserver keeps, and whom it vouches for. */
export class FrontTrust {
  readonly #watcher: DelegationConfigWatcher;
  readonly #requestHeader: RequestHeaderAuthenticator;
  readonly #firstReadingMs: number;
  /** Told when `isFrontProxy` may judge a connection in another way than before. */
  onChange: (() => void) | undefined;

  constructor(source: ConfigMapSource, onFault: (fault: string) => void, readWithinMs = firstReadingMs) {
    this.#watcher = new DelegationConfigWatcher(source, onFault, () => this.onChange?.());
    this.#requestHeader = requestHeaderAuthenticator(() => this.#watcher.current.requestHeader);
    this.#firstReadingMs = readWithinMs;
  }

  /** Resolves once it is known whom to trust. @throws Error why it cannot be known, when it took too long */
  async start(): Promise<void> {
    this.#watcher.start();
    const until = Date.now() + this.#firstReadingMs;
    for (let fault = this.fault(); fault !== undefined; fault = this.fault()) {
      if (Date.now() > until) throw new Error(`whom to trust as the front is not known: ${fault}`);
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  stop(): Promise<void> {
    return this.#watcher.stop();
  }

  /** Undefined when requests can be judged, else why not. */
  fault(): string | undefined {
    const unread = this.#watcher.ready();
    if (unread !== undefined) return unread;
    const config = this.#watcher.current.requestHeader;
    if (!config) return 'ConfigMap kube-system/extension-apiserver-authentication holds no requestheader-client-ca-file; run the kube-apiserver with --requestheader-client-ca-file';
    if (config.usernameHeaders.length === 0) return 'ConfigMap kube-system/extension-apiserver-authentication names no header for users (requestheader-username-headers)';
    return undefined;
  }

  /** The headers that carry identities now. */
  get identityHeaders(): HeaderSelection {
    return identityHeadersOf(this.#watcher.current.requestHeader);
  }

  isFrontProxy(peer: readonly X509Certificate[]): boolean {
    return this.#requestHeader.isFrontProxy(peer);
  }

  /** The user that the front vouches for. @throws RefusedError */
  async userOf(request: Parameters<typeof peerCertificatesOf>[0] & { rawHeaders: readonly string[] }): Promise<UserInfo> {
    const peer = peerCertificatesOf(request);
    if (peer.length === 0) throw new RefusedError('no_certificate', 'the connection brought no client certificate');
    let user: UserInfo | undefined;
    try {
      user = await this.#requestHeader.authenticate({ rawHeaders: request.rawHeaders, peerCertificates: () => peer });
    } catch (error) {
      throw new RefusedError('untrusted_certificate', (error as Error).message);
    }
    if (!user) throw new RefusedError('no_user', 'the front named no user');
    return user;
  }
}
