import type { KeyPair } from '../../pkg/server/certificates.ts';
import { overHttp1, overHttp2, type Address, type Fields, type Outcome } from './attack-peer.ts';

/** Who attacks: by the client certificate that is shown. */
export type Attacker =
  | 'nobody'
  /** A certificate of the client authority, for user mallory, who may do nothing. */
  | 'mallory'
  /** As mallory, but may impersonate users and groups. */
  | 'impersonator'
  /** The front proxy itself. */
  | 'front'
  | 'expired front'
  | 'future front'
  | 'front of another name'
  | 'front with a server certificate'
  | 'front by the client authority'
  | 'front by an authority of the same name';

export interface Attack {
  name: string;
  attacker: Attacker;
  /** Of the answer; `reset` where the connection or stream ends without one. */
  expected: number | 'reset';
  /** The user whom the refusal must name: who it really is. */
  user?: string;
  /** It is refused before it is a request: counted among connections that were ended, or by nobody where nghttp2 resets a stream that it tells nobody of. */
  noRequest?: 'ended' | 'uncounted';
  send: (address: Address, keyPair: KeyPair | undefined, auditId: string) => Promise<Outcome>;
}

const list = '/apis/apps.cozystack.io/v1alpha1/tenants';
const secret = 'token-that-must-not-be-logged';

type Lines = readonly (readonly [name: string, value: string])[];

/** A request that any client library could send. */
const plain = (path: string, lines: Lines, method = 'GET') => ({
  'HTTP/1.1': (address: Address, keyPair: KeyPair | undefined, auditId: string) =>
    overHttp1(address, keyPair, raw(`${method} ${path} HTTP/1.1`, 'Host: localhost', `Audit-ID: ${auditId}`, ...lines.map(([name, value]) => `${name}: ${value}`))),
  'HTTP/2': (address: Address, keyPair: KeyPair | undefined, auditId: string) =>
    overHttp2(address, keyPair, [...pseudo(path, method), ['audit-id', auditId], ...lines.map(([name, value]) => [name.toLowerCase(), value] as const)]),
});

const raw = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
const pseudo = (path: string, method = 'GET'): Fields => [[':method', method], [':scheme', 'https'], [':authority', 'localhost'], [':path', path]];

const overBoth = (name: string, attacker: Attacker, request: ReturnType<typeof plain>, expected: number, rest: Pick<Attack, 'user'> = {}): Attack[] =>
  (['HTTP/1.1', 'HTTP/2'] as const).map((protocol) => ({ name: `${name}, over ${protocol}`, attacker, expected, send: request[protocol], ...rest }));

const admin: Lines = [['X-Remote-User', 'kubernetes-admin'], ['X-Remote-Group', 'system:masters'], ['X-Remote-Uid', '1'], ['X-Remote-Extra-Scopes', 'all']];

const forged: Attack[] = [
  ...overBoth('identity headers without a certificate', 'nobody', plain(list, admin), 403, { user: 'system:anonymous' }),
  ...overBoth("identity headers with a user's certificate", 'mallory', plain(list, admin), 403, { user: 'mallory' }),
  ...(['expired front', 'future front', 'front of another name', 'front with a server certificate', 'front by the client authority', 'front by an authority of the same name'] as const)
    .flatMap((attacker) => overBoth(`identity headers of the ${attacker}`, attacker, plain(list, admin), attacker === 'front by the client authority' ? 403 : 401)),
  ...overBoth('identity headers beside a bad token', 'nobody', plain(list, [...admin, ['Authorization', `Bearer ${secret}`]]), 401),
];

const identity: Attack[] = [
  ...overBoth('a second user header', 'front', plain(list, [['X-Remote-User', 'mallory'], ['X-Remote-User', 'kubernetes-admin']]), 403, { user: 'mallory' }),
  ...overBoth('a user header in mixed case after the real one', 'front', plain(list, [['X-Remote-User', 'mallory'], ['x-ReMoTe-uSeR', 'kubernetes-admin']]), 403, { user: 'mallory' }),
  ...overBoth('a user header with underscores', 'front', plain(list, [['X-Remote-User', 'mallory'], ['X_Remote_User', 'kubernetes-admin']]), 403, { user: 'mallory' }),
  ...overBoth('groups in one line', 'front', plain(list, [['X-Remote-User', 'mallory'], ['X-Remote-Group', 'a, system:masters']]), 403, { user: 'mallory' }),
  ...overBoth('groups without a user', 'front', plain(list, [['X-Remote-Group', 'system:masters']]), 401),
  ...overBoth('an empty user', 'front', plain(list, [['X-Remote-User', ''], ['X-Remote-Group', 'system:masters']]), 401),
  ...overBoth('a token beside the identity of the front', 'front', plain(list, [['X-Remote-User', 'mallory'], ['Authorization', `Bearer ${secret}`]]), 403, { user: 'mallory' }),
  ...overBoth('a bad token', 'nobody', plain(list, [['Authorization', `Bearer ${secret}`]]), 401),
  ...overBoth('a password', 'nobody', plain(list, [['Authorization', `Basic ${btoa(`admin:${secret}`)}`]]), 403, { user: 'system:anonymous' }),
];

const impersonation: Attack[] = [
  ...overBoth('impersonation of masters without permission', 'mallory', plain(list, [['Impersonate-User', 'x'], ['Impersonate-Group', 'system:masters']]), 403, { user: 'mallory' }),
  ...overBoth('impersonation of masters through the front', 'front', plain(list, [['X-Remote-User', 'mallory'], ['Impersonate-User', 'x'], ['Impersonate-Group', 'system:masters']]), 403, { user: 'mallory' }),
  ...overBoth('impersonation without a certificate', 'nobody', plain(list, [['Impersonate-User', 'kubernetes-admin']]), 403, { user: 'system:anonymous' }),
  ...overBoth('impersonation of a ServiceAccount', 'mallory', plain(list, [['Impersonate-User', 'system:serviceaccount:cozy-system:tenant-apiserver']]), 403, { user: 'mallory' }),
  ...overBoth('impersonation of a group alone', 'mallory', plain(list, [['Impersonate-Group', 'system:masters']]), 400),
  ...overBoth('impersonation of a uid alone', 'mallory', plain(list, [['Impersonate-Uid', '1']]), 400),
  ...overBoth('impersonation that is allowed, with an extra that is not', 'impersonator', plain(list, [['Impersonate-User', 'x'], ['Impersonate-Extra-Scopes', 'all']]), 403, { user: 'impersonator' }),
  ...overBoth('impersonation of masters with permission', 'impersonator', plain(list, [['Impersonate-User', 'x'], ['Impersonate-Group', 'system:masters']]), 200),
];

/** mallory may see /healthz and the like, and nothing else: none of these may be taken for one and served as another. */
const paths: Attack[] = [
  '/metrics', '//metrics', '/metrics/', '/./metrics', '/healthz/../metrics', '/healthz/..;/metrics', '/healthz;/../metrics', '/healthz/%2e%2e/metrics', '/healthz%2f..%2fmetrics',
  '/healthz/..%2f..%2fmetrics', '/healthz\\..\\metrics', '/%6detrics', `/${list}`, `/healthz/..${list}`, `${list}/`, `${list}/..`, list.replace('/apis', '/%61pis'),
  '/apis/apps.cozystack.io/v1alpha1/namespaces/../tenants', '/apis/apps.cozystack.io/v1alpha1/namespaces/%2e%2e/tenants', '/metrics?/healthz', `${list}?watch=1#/healthz`,
].flatMap((path) => (['HTTP/1.1', 'HTTP/2'] as const).map((protocol): Attack => ({ name: `path ${path}, over ${protocol}`, attacker: 'mallory', expected: 403, send: plain(path, [])[protocol] })));

/** `request`: the lines up to the empty one, without the Audit-ID, then the body. */
const malformed = (name: string, lines: string[], body = '', expected: Attack['expected'] = 400): Attack => ({
  name: `${name}, over HTTP/1.1`,
  attacker: 'mallory',
  expected,
  noRequest: 'ended',
  send: (address, keyPair) => overHttp1(address, keyPair, Buffer.concat([raw(...lines), Buffer.from(body)])),
});
const get = `GET ${list} HTTP/1.1`;
const post = `POST ${list} HTTP/1.1`;
const host = 'Host: localhost';

const http1: Attack[] = [
  malformed('Transfer-Encoding beside Content-Length', [post, host, 'Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  malformed('two lengths', [post, host, 'Content-Length: 4', 'Content-Length: 5'], 'abcd'),
  malformed('a negative length', [post, host, 'Content-Length: -1']),
  malformed('a length that is no number', [post, host, 'Content-Length: 4x'], 'abcd'),
  malformed('an encoding that is not known', [post, host, 'Transfer-Encoding: xchunked'], '0\r\n\r\n', 'reset'),
  malformed('chunked, but not as the last encoding', [post, host, 'Transfer-Encoding: chunked, identity'], '0\r\n\r\n'),
  malformed('a chunk without a size', [post, host, 'Transfer-Encoding: chunked'], 'zz\r\n\r\n', 'reset'),
  malformed('a folded header', [get, host, 'X-Remote-User: a', ' kubernetes-admin']),
  malformed('a space before the colon', [get, host, 'X-Remote-User : kubernetes-admin']),
  malformed('a carriage return in a value', [get, host, 'X-A: b\rX-Remote-User: kubernetes-admin']),
  malformed('a line feed alone', [get, `${host}\nX-Remote-User: kubernetes-admin`]),
  malformed('a NUL in a value', [get, host, 'X-A: b\0c']),
  malformed('a name with a character of none', [get, host, 'X-Remote@User: kubernetes-admin']),
  malformed('no name', [get, host, ': kubernetes-admin']),
  malformed('HTTP/2.0 in the request line', [`GET ${list} HTTP/2.0`, host], '', 505),
  malformed('HTTP/0.9', [`GET ${list}`], '', 505),
  malformed('a target that is no path', ['GET metrics HTTP/1.1', host]),
  malformed('a target whose slashes are escaped', [`GET ${list.replaceAll('/', '%2f')} HTTP/1.1`, host]),
  malformed('a method of lower case', [`get ${list} HTTP/1.1`, host]),
  malformed('a control character in the path', [`GET ${list}\u0001 HTTP/1.1`, host]),
];

const target = (name: string, line: string, expected: Attack['expected'], hosts: string[] = [host]): Attack => ({
  name: `${name}, over HTTP/1.1`,
  attacker: 'mallory',
  expected,
  send: (address, keyPair, auditId) => overHttp1(address, keyPair, raw(line, ...hosts, `Audit-ID: ${auditId}`)),
});

const targets: Attack[] = [
  target('an absolute target of another host', 'GET https://elsewhere.example/metrics HTTP/1.1', 403),
  target('an absolute target whose host is a path that is allowed', 'GET https://localhost/healthz/../metrics HTTP/1.1', 403),
  target('an absolute target of another scheme', 'GET file:///etc/passwd HTTP/1.1', 403),
  target('a Host that is another', 'GET /metrics HTTP/1.1', 403, ['Host: elsewhere.example']),
  target('TRACE', 'TRACE /metrics HTTP/1.1', 403),
  target('a method of another protocol', 'PROPFIND /metrics HTTP/1.1', 403),
  { ...target('CONNECT', 'CONNECT localhost:443 HTTP/1.1', 'reset'), noRequest: 'ended' },
  { ...target('no Host', 'GET /metrics HTTP/1.1', 400, []), noRequest: 'ended' },
  target('an upgrade to HTTP/2', 'GET /metrics HTTP/1.1', 403, [host, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
  target('a hop-by-hop header that names an identity header', 'GET /metrics HTTP/1.1', 403, [host, 'Connection: close, X-Remote-User', 'X-Remote-User: kubernetes-admin']),
];

const fields = (name: string, sent: Fields, expected: Attack['expected'], body?: string, noRequest?: Attack['noRequest']): Attack => ({
  name: `${name}, over HTTP/2`,
  attacker: 'mallory',
  expected,
  noRequest: noRequest ?? (expected === 'reset' ? 'uncounted' : undefined),
  send: (address, keyPair, auditId) => overHttp2(address, keyPair, [...sent, ['audit-id', auditId]], body === undefined ? undefined : Buffer.from(body)),
});
const metrics = pseudo('/metrics');

const http2: Attack[] = [
  fields('a second :path', [...metrics, [':path', '/healthz']], 'reset'),
  fields('a second :method', [...metrics, [':method', 'POST']], 'reset'),
  fields('a pseudo header after a header', [[':method', 'GET'], [':scheme', 'https'], [':authority', 'localhost'], ['x-a', 'b'], [':path', '/metrics']], 'reset'),
  fields('a pseudo header that is not known', [...metrics, [':user', 'kubernetes-admin']], 'reset'),
  fields('a pseudo header of an answer', [...metrics, [':status', '200']], 'reset'),
  fields('an empty :path', pseudo(''), 'reset'),
  fields('no :path', metrics.slice(0, 3), 'reset'),
  fields('a name in upper case', [...metrics, ['X-Remote-User', 'kubernetes-admin']], 'reset'),
  // A field with such a name or value is left out by nghttp2, and the request is judged without it.
  fields('a carriage return and line feed in a value', [...metrics, ['x-a', 'b\r\nx-remote-user: kubernetes-admin']], 403),
  fields('a NUL in a value', [...metrics, ['x-a', 'b\0c']], 403),
  fields('a space in a name', [...metrics, ['x-remote-user ', 'kubernetes-admin']], 403),
  fields('a colon in a name', [...metrics, ['x-a:x-remote-user', 'kubernetes-admin']], 403),
  fields('Connection', [...metrics, ['connection', 'x-remote-user']], 'reset'),
  fields('Transfer-Encoding', [...pseudo(list, 'POST'), ['transfer-encoding', 'chunked']], 'reset', '0\r\n\r\n'),
  fields('an Upgrade', [...metrics, ['upgrade', 'websocket']], 'reset'),
  fields('a length that is not the body\'s', [...pseudo(list, 'POST'), ['content-length', '2']], 'reset', 'abcd', 'ended'),
  fields('two lengths', [...pseudo(list, 'POST'), ['content-length', '4'], ['content-length', '5']], 'reset', 'abcd'),
  fields('an absolute :path', pseudo('https://localhost/healthz/../metrics'), 'reset'),
  fields('a :path whose slashes are escaped', pseudo(list.replaceAll('/', '%2f')), 'reset'),
  fields('an :authority that is another than Host', [...metrics, ['host', 'elsewhere.example']], 403),
  fields('an :authority of elsewhere', [[':method', 'GET'], [':scheme', 'https'], [':authority', 'elsewhere.example'], [':path', '/metrics']], 403),
  fields('a scheme of elsewhere', [[':method', 'GET'], [':scheme', 'file'], [':authority', 'localhost'], [':path', '/metrics']], 403),
  fields('a method of its own', pseudo('/metrics', 'FROBNICATE'), 403),
];

export const attacks: readonly Attack[] = [...forged, ...identity, ...impersonation, ...paths, ...http1, ...targets, ...http2];
export const secrets: readonly string[] = [secret, btoa(`admin:${secret}`)];
