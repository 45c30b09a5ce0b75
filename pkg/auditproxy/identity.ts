import type { OutgoingHttpHeaders } from 'node:http2';
import type { UserInfo } from '../authentication/user.ts';

export const extrasModes = ['none', 'allowlist', 'all'] as const;
export type ExtrasMode = (typeof extrasModes)[number];

/** How much of a verified identity is handed on. User and groups always are. */
export interface Projection {
  forwardUid: boolean;
  extras: {
    mode: ExtrasMode;
    /** Keys that mode allowlist lets pass, in lower case. */
    allowlist: ReadonlySet<string>;
  };
}

/** The `Impersonate-*` headers that stand for a user, their names in lower case as HTTP/2 wants them. */
export const impersonationHeaders = ({ username, uid, groups, extra }: UserInfo, { forwardUid, extras }: Projection): OutgoingHttpHeaders => {
  const headers: OutgoingHttpHeaders = { 'impersonate-user': headerValue(username) };
  if (groups.length > 0) headers['impersonate-group'] = groups.map(headerValue);
  if (forwardUid && uid) headers['impersonate-uid'] = headerValue(uid);
  for (const [key, values] of Object.entries(extra)) {
    if (extras.mode === 'none' || (extras.mode === 'allowlist' && !extras.allowlist.has(key))) continue;
    headers[`impersonate-extra-${escapedKey(key)}`] = values.map(headerValue);
  }
  return headers;
};

/** Go writes and reads headers as UTF-8; Node takes them byte by byte. */
const headerValue = (text: string): string => (/^[\u0020-\u007e]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1'));

/** An extra key as client-go writes it into a header's name: every byte that may not stand there, and `%`, as `%xx`. With `i`, `ſ` would pass for an s. */
const escapedKey = (key: string): string =>
  key.replaceAll(/[^A-Za-z0-9!#$&'*+.^_`|~-]/gu, (character) => [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
