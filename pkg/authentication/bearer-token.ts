import { createHmac, randomBytes } from 'node:crypto';
import type { Authenticator } from './authenticator.ts';
import { headerLine } from './headers.ts';
import type { SubmitReview } from './review.ts';
import { ReviewCache } from './review-cache.ts';
import type { UserInfo } from './user.ts';

/** Finds out whose a token is. @throws where it is nobody's, or that cannot be found out */
export type TokenAuthenticator = (token: string) => Promise<UserInfo>;

export interface TokenReviewOptions {
  submit: SubmitReview;
  /** A token must be for one of them; none: for the kube-apiserver's own audiences. */
  audiences?: readonly string[];
  successTtlMs?: number;
  failureTtlMs?: number;
  now?: () => number;
  /** Sees the keys under which answers are kept. */
  keyed?: (key: string) => void;
}

interface TokenReview {
  apiVersion: 'authentication.k8s.io/v1';
  kind: 'TokenReview';
  spec: { token: string; audiences?: readonly string[] };
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
    audiences?: string[];
    error?: string;
  };
}

type Outcome = { user: UserInfo } | { refusal: string };

const cacheSize = 32_768;

/**
 * Tokens by TokenReview. Answers are kept by a keyed digest, so that no token is held in memory longer than its question takes;
 * both outcomes are kept, so that a client with a bad token does not reach the kube-apiserver with every request.
 */
export const tokenReviewAuthenticator = ({ submit, audiences = [], successTtlMs = 10_000, failureTtlMs = 10_000, now, keyed }: TokenReviewOptions): TokenAuthenticator => {
  const secret = randomBytes(32);
  const cache = new ReviewCache<Outcome>({ size: cacheSize, ttlMs: (outcome) => ('user' in outcome ? successTtlMs : failureTtlMs), now });
  const review = async (token: string): Promise<Outcome> =>
    outcomeOf(
      await submit<TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token, ...(audiences.length > 0 && { audiences }) },
      }),
      audiences,
    );
  return async (token) => {
    const key = createHmac('sha256', secret).update(token).digest('base64');
    keyed?.(key);
    const outcome = await cache.get(key, () => review(token));
    if ('refusal' in outcome) throw new Error(outcome.refusal);
    return outcome.user;
  };
};

const outcomeOf = ({ status = {} }: TokenReview, wanted: readonly string[]): Outcome => {
  // A kube-apiserver that names no audiences has not looked at them; ours are then implied.
  const audiences = status.audiences?.length ? status.audiences : wanted;
  if (wanted.length > 0 && !audiences.some((audience) => wanted.includes(audience))) return { refusal: invalidToken };
  if (!status.authenticated) return { refusal: status.error || invalidToken };
  const { username = '', uid, groups = [], extra = {} } = status.user ?? {};
  if (username === '') return { refusal: 'the TokenReview names no user' };
  return { user: { username, ...(uid && { uid }), groups, extra } };
};

const invalidToken = 'invalid bearer token';
const extraSpaceWarning = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** Users by `Authorization: Bearer`. */
export const bearerTokenAuthenticator = (authenticate: TokenAuthenticator): Authenticator => ({
  async authenticate({ rawHeaders, warn }) {
    const [scheme = '', token, rest] = splitInThree(headerLine(rawHeaders, 'authorization').trim());
    if (scheme.toLowerCase() !== 'bearer' || token === undefined) return undefined;
    if (token === '') {
      if (rest !== undefined) warn?.(extraSpaceWarning);
      return undefined;
    }
    return authenticate(token);
  },
});

const splitInThree = (text: string): string[] => {
  const [first, second, ...rest] = text.split(' ');
  return [first!, ...(second === undefined ? [] : [second]), ...(rest.length > 0 ? [rest.join(' ')] : [])];
};
