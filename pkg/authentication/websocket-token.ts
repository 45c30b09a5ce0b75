import type { Authenticator } from './authenticator.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import { headerLine, headerLines } from './headers.ts';

/** Browsers cannot set headers on a WebSocket: the token comes as one of the offered subprotocols. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/** Users by a bearer token among a WebSocket's subprotocols. */
export const websocketTokenAuthenticator = (authenticate: TokenAuthenticator): Authenticator => ({
  async authenticate({ rawHeaders }) {
    if (!isUpgrade(rawHeaders)) return undefined;
    const offered = protocolsOf(rawHeaders);
    const encoded = offered.filter((protocol) => protocol.startsWith(tokenProtocol)).map((protocol) => protocol.slice(tokenProtocol.length));
    if (encoded.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
    const token = decodeToken(encoded[0] ?? '');
    if (token === '') return undefined;
    // One that is no token must be left to answer with.
    if (encoded.length === offered.length) throw new Error('missing additional subprotocol');
    return authenticate(token);
  },
});

/** The offered subprotocols without a token, or undefined where there is none to hide. */
export const withoutToken = (rawHeaders: readonly string[]): string | undefined => {
  const offered = protocolsOf(rawHeaders);
  const rest = offered.filter((protocol) => !protocol.startsWith(tokenProtocol));
  return rest.length === offered.length ? undefined : rest.join(',');
};

const protocolsOf = (rawHeaders: readonly string[]): string[] =>
  headerLines(rawHeaders, 'sec-websocket-protocol').flatMap((line) => line.split(',').map((protocol) => protocol.trim()));

const isUpgrade = (rawHeaders: readonly string[]): boolean =>
  headerLine(rawHeaders, 'upgrade').toLowerCase() === 'websocket' && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headerLine(rawHeaders, 'connection'));

const decodeToken = (encoded: string): string => {
  if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) throw new Error('invalid base64.bearer.authorization token encoding');
  const bytes = Buffer.from(encoded, 'base64url');
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Error('invalid base64.bearer.authorization token');
  return text;
};
