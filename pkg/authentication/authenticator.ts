import type { X509Certificate } from 'node:crypto';
import type { UserInfo } from './user.ts';

/** What of a request can say who makes it. */
export interface AuthenticationRequest {
  /** Names and values in turns, each value as it stood on its line. */
  rawHeaders: readonly string[];
  /** The peer's certificate and what it sent along; the same array for all requests of a connection. Not verified. */
  peerCertificates: () => readonly X509Certificate[];
  /** A text for the client's `Warning` header. */
  warn?: (text: string) => void;
}

/** One way to find out who makes a request. */
export interface Authenticator {
  /**
   * The user, or undefined where the request holds nothing for this authenticator.
   * @throws where it does, and the proof is bad or cannot be checked
   */
  authenticate: (request: AuthenticationRequest) => Promise<UserInfo | undefined>;
}

export const anonymousUser = 'system:anonymous';
export const allAuthenticated = 'system:authenticated';
export const allUnauthenticated = 'system:unauthenticated';

/** The first match wins; an error of one leaves the chance to the others, and counts where nobody matches. */
export const union = (...authenticators: readonly Authenticator[]): Authenticator => ({
  async authenticate(request) {
    const errors: unknown[] = [];
    for (const authenticator of authenticators) {
      try {
        const user = await authenticator.authenticate(request);
        if (user) return user;
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join(', '));
    return undefined;
  },
});

/** Adds `system:authenticated` to whoever was authenticated and says neither that nor the contrary. */
export const authenticatedGroupAdder = (inner: Authenticator): Authenticator => ({
  async authenticate(request) {
    const user = await inner.authenticate(request);
    if (!user || user.username === anonymousUser) return user;
    if (user.groups.some((group) => group === allAuthenticated || group === allUnauthenticated)) return user;
    return { ...user, groups: [...user.groups, allAuthenticated] };
  },
});

/** Takes whoever brought no proof at all for `system:anonymous`; a bad proof stays an error. */
export const orAnonymous = (inner: Authenticator): Authenticator => ({
  authenticate: async (request) => (await inner.authenticate(request)) ?? { username: anonymousUser, groups: [allUnauthenticated], extra: {} },
});
