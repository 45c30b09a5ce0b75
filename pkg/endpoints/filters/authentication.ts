import type { Request, RequestHandler } from 'express';
import type { AuthenticationRequest, Authenticator } from '../../authentication/authenticator.ts';
import { removeHeaders, type HeaderSelection } from '../../authentication/headers.ts';
import { peerCertificatesOf } from '../../authentication/peer.ts';
import { withoutToken } from '../../authentication/websocket-token.ts';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';

export interface AuthenticationFilterOptions {
  authenticator: Authenticator;
  /** Headers besides the well-known ones that carry identities now. */
  identityHeaders?: () => HeaderSelection;
  /** Why a request was refused. */
  log?: (error: unknown, request: Request) => void;
}

const wellKnown: HeaderSelection = {
  names: ['authorization', 'x-remote-user', 'x-remote-uid', 'x-remote-group'],
  prefixes: ['x-remote-extra-'],
};
const none: HeaderSelection = { names: [], prefixes: [] };

/**
 * Finds out who makes a request. Whatever comes of it, nobody behind sees the headers that say so, whoever sent them. Without
 * a valid identity the answer is 401; where a proof could not be checked because the kube-apiserver gave no answer it is 503, since
 * the client can do nothing but try again.
 */
export const withAuthentication = ({ authenticator, identityHeaders = () => none, log }: AuthenticationFilterOptions): RequestHandler =>
  async (req, res, next) => {
    const context = contextOf(res);
    const request: AuthenticationRequest = {
      rawHeaders: req.rawHeaders,
      peerCertificates: () => peerCertificatesOf(req),
      warn: (text) => void context.warnings.add(text),
    };
    let refusal: StatusError | undefined;
    try {
      const user = await authenticator.authenticate(request);
      if (user) context.user = user;
      else refusal = StatusError.unauthorized();
    } catch (error) {
      log?.(error, req);
      refusal = isOutage(error) ? StatusError.unavailable('the kube-apiserver could not be asked whose credentials these are; try again', error) : StatusError.unauthorized();
    }
    hideIdentity(req, identityHeaders());
    next(refusal);
  };

/** Only reviews throw StatusErrors: they could not be had. */
const isOutage = (error: unknown): boolean => error instanceof StatusError || (error instanceof AggregateError && error.errors.some(isOutage));

const hideIdentity = (req: Request, { names, prefixes }: HeaderSelection): void => {
  const protocols = withoutToken(req.rawHeaders);
  const hidden = protocols === undefined ? [] : ['sec-websocket-protocol'];
  removeHeaders(req, { names: [...wellKnown.names, ...names, ...hidden], prefixes: [...wellKnown.prefixes, ...prefixes] });
  if (protocols) {
    req.rawHeaders.push('sec-websocket-protocol', protocols);
    req.headers['sec-websocket-protocol'] = protocols;
  }
};
