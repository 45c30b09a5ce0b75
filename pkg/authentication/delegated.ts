import type { X509Certificate } from 'node:crypto';
import type { KubeClient } from '../kube/client.ts';
import { authenticatedGroupAdder, orAnonymous, union, type Authenticator } from './authenticator.ts';
import { bearerTokenAuthenticator, tokenReviewAuthenticator } from './bearer-token.ts';
import { clientCertificateAuthenticator } from './client-certificate.ts';
import { configMapSource, DelegationConfigWatcher, type ConfigMapSource } from './delegation-config.ts';
import type { HeaderSelection } from './headers.ts';
import { identityHeadersOf, requestHeaderAuthenticator } from './request-header.ts';
import { reviewsBy, type SubmitReview } from './review.ts';
import type { UserInfo } from './user.ts';
import { websocketTokenAuthenticator } from './websocket-token.ts';

export interface DelegatedAuthenticationOptions {
  client: KubeClient;
  /** Whether who brings no proof is `system:anonymous` rather than refused. */
  anonymous: boolean;
  /** None: the kube-apiserver's own. */
  tokenAudiences?: readonly string[];
  /** Milliseconds that a TokenReview's answer is good for. */
  tokenTtlMs?: number;
  /** What is wrong with the ConfigMap, as often as it is found to be. */
  onFault?: (fault: string) => void;
  /** Told when `isFrontProxy` may judge a connection in another way than before. */
  onFrontChange?: () => void;
  now?: () => number;
  source?: ConfigMapSource;
  submit?: SubmitReview;
}

export interface DelegatedAuthentication {
  authenticator: Authenticator;
  /** Whether a connection is the front proxy's: its limits may be wide. */
  isFrontProxy: (peer: readonly X509Certificate[]) => boolean;
  /** Whose bearer token a request brings, whatever else it brings; undefined: none. Rejects where it is nobody's, or that cannot be found out. */
  tokenUser: (rawHeaders: readonly string[]) => Promise<UserInfo | undefined>;
  /** The headers that carry identities now, to be removed from requests. */
  identityHeaders: () => HeaderSelection;
  start: () => void;
  stop: () => Promise<void>;
  /** Undefined when requests can be authenticated, else why not. */
  ready: () => string | undefined;
}

/** Authentication as the kube-apiserver in front does it: request header, client certificate, bearer token, anonymous. */
export const delegatedAuthentication = (options: DelegatedAuthenticationOptions): DelegatedAuthentication => {
  const { client, anonymous, tokenAudiences, tokenTtlMs, onFault = () => undefined, now = Date.now } = options;
  const watcher = new DelegationConfigWatcher(options.source ?? configMapSource(client), onFault, options.onFrontChange);
  const requestHeader = requestHeaderAuthenticator(() => watcher.current.requestHeader, now);
  const tokens = tokenReviewAuthenticator({
    submit: options.submit ?? reviewsBy(client),
    audiences: tokenAudiences,
    successTtlMs: tokenTtlMs,
    failureTtlMs: tokenTtlMs,
    now,
  });
  const bearer = bearerTokenAuthenticator(tokens);
  const proven = authenticatedGroupAdder(
    union(
      requestHeader,
      clientCertificateAuthenticator(() => watcher.current.clientCertificate, now),
      bearer,
      websocketTokenAuthenticator(tokens),
    ),
  );
  return {
    authenticator: anonymous ? orAnonymous(proven) : proven,
    isFrontProxy: (peer) => requestHeader.isFrontProxy(peer),
    tokenUser: (rawHeaders) => bearer.authenticate({ rawHeaders, peerCertificates: () => [] }),
    identityHeaders: () => identityHeadersOf(watcher.current.requestHeader),
    start: () => watcher.start(),
    stop: () => watcher.stop(),
    ready: () => watcher.ready(),
  };
};
