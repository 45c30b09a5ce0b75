import type { RequestHandler } from 'express';
import { extraLines, headerLine, headerLines, removeHeaders } from '../../authentication/headers.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { quoted } from '../../authorization/go-text.ts';
import { impersonation, type WantedUser } from '../../authorization/impersonation.ts';
import { StatusError } from '../../kube/status-error.ts';
import { contextOf } from '../context.ts';
import { authorizationAttributes } from './authorization.ts';

const prefix = 'impersonate-';
const extraPrefix = 'impersonate-extra-';

/** Lets a user who may make the request in another's name. The headers are gone afterwards: nobody behind shall act by them. */
export const withImpersonation = (authorizer: Authorizer): RequestHandler => {
  const impersonate = impersonation(authorizer);
  return async (req, res, next) => {
    if (!mentionsImpersonation(req.rawHeaders)) return next();
    const context = contextOf(res);
    try {
      const wanted = wantedUserOf(req.rawHeaders);
      if (wanted) {
        const done = await impersonate(wanted, authorizationAttributes(context));
        context.impersonator = context.user;
        context.user = done.user;
        context.audit?.impersonated(done.user, done.constraint);
      }
    } finally {
      removeHeaders(req, { names: [], prefixes: [prefix] });
    }
    next();
  };
};

const mentionsImpersonation = (rawHeaders: readonly string[]): boolean => {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length > prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) return true;
  }
  return false;
};

/**
 * Who a request wants to be, or undefined where it says nothing of it.
 * @throws StatusError 400 where it names groups, a uid or extra values and no user
 */
export const wantedUserOf = (rawHeaders: readonly string[]): WantedUser | undefined => {
  const wanted = {
    username: headerLine(rawHeaders, 'impersonate-user'),
    uid: headerLine(rawHeaders, 'impersonate-uid'),
    groups: headerLines(rawHeaders, 'impersonate-group'),
    extra: Object.fromEntries(extraLines(rawHeaders, extraPrefix)),
  };
  if (wanted.username !== '') return wanted;
  if (wanted.uid === '' && wanted.groups.length === 0 && Object.keys(wanted.extra).length === 0) return undefined;
  throw StatusError.badRequest(`requested ${asGoValue(wanted)} without impersonating a user name`);
};

/** The kube-apiserver shows the value in Go's own notation. */
const asGoValue = ({ username, uid, groups, extra }: { username: string; uid: string; groups: string[]; extra: Record<string, string[]> }): string => {
  const list = (values: string[]): string => `[]string{${values.map(quoted).join(', ')}}`;
  const entries = Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => `${quoted(key)}:${list(values)}`);
  const shownGroups = groups.length > 0 ? list(groups) : '[]string(nil)';
  const shownExtra = entries.length > 0 ? `map[string][]string{${entries.join(', ')}}` : 'map[string][]string(nil)';
  return `&user.DefaultInfo{Name:${quoted(username)}, UID:${quoted(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
};
