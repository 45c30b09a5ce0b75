import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { HeaderSelection } from '../authentication/headers.ts';

/** Of one connection only (RFC 9110 7.6.1), whether `Connection` names them or not. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'proxy-authenticate', 'proxy-authorization', 'expect']);

/** How the caller proved itself to the front, or claims to be somebody: never for the backend. */
const callerNames = ['authorization'];
const callerPrefixes = ['impersonate-', 'x-remote-'];

/** Headers that may be there once; of more than one the first counts, as for Go. */
const single = new Set([
  'age', 'content-encoding', 'content-language', 'content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date', 'dnt', 'etag', 'expires',
  'from', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'range', 'referer',
  'retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent', 'x-content-type-options', 'access-control-allow-credentials', 'access-control-max-age', 'access-control-request-method',
]);

/** Without a prototype, whose members a header might be called. */
const noHeaders = (): OutgoingHttpHeaders => Object.create(null) as OutgoingHttpHeaders;

/**
 * What of a request's headers goes on to the backend, by names in lower case.
 * @param identityHeaders those in which the front carries identities now
 */
export const forwardedHeaders = (rawHeaders: readonly string[], identityHeaders: HeaderSelection): OutgoingHttpHeaders => {
  const headers = noHeaders();
  const callers = callersBy(identityHeaders);
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const value = rawHeaders[at + 1]!;
    if (name === 'connection') named = new Set([...(named ?? []), ...namesIn(value)]);
    if (name.startsWith(':') || name === 'host' || connectionHeaders.has(name) || isCallers(name, callers)) continue;
    const present = headers[name];
    if (present === undefined) headers[name] = value;
    else if (single.has(name)) continue;
    else if (Array.isArray(present)) present.push(value);
    else headers[name] = [present as string, value];
  }
  for (const name of named ?? []) delete headers[name];
  return headers;
};

/** Names and beginnings of names, in lower case. */
interface Callers {
  names: ReadonlySet<string>;
  prefixes: readonly string[];
}

/** By what the ConfigMap says, which is one object until it changes. */
const known = new WeakMap<HeaderSelection, Callers>();

const callersBy = (selection: HeaderSelection): Callers => {
  let callers = known.get(selection);
  if (!callers) {
    const lower = (text: string): string => text.toLowerCase();
    callers = { names: new Set([...callerNames, ...selection.names.map(lower)]), prefixes: [...callerPrefixes, ...selection.prefixes.map(lower)] };
    known.set(selection, callers);
  }
  return callers;
};

const isCallers = (name: string, { names, prefixes }: Callers): boolean => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));

/** What of an answer's headers goes on to the client. */
export const returnedHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => {
  const named = typeof headers.connection === 'string' ? namesIn(headers.connection) : undefined;
  const returned = noHeaders();
  for (const name in headers) {
    if (!name.startsWith(':') && !connectionHeaders.has(name) && !named?.includes(name)) returned[name] = headers[name];
  }
  return returned;
};

const namesIn = (connection: string): string[] => connection.toLowerCase().split(',').map((name) => name.trim());

/** With who sent the request added at the end (`X-Forwarded-For`), as the kube-apiserver's own proxy does. */
export const addForwardedFor = (headers: OutgoingHttpHeaders, remoteAddress: string | undefined): void => {
  if (!remoteAddress) return;
  const before = headers['x-forwarded-for'];
  headers['x-forwarded-for'] = [...(before === undefined ? [] : [before].flat()), remoteAddress].join(', ');
};
