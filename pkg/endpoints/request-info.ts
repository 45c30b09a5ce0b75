import { exactMatch, parseFieldSelector, parseLabelSelector, type FieldRequirement } from '../authorization/selectors.ts';
import { StatusError } from '../kube/status-error.ts';

/** What a request is about, read from its method, path and query as apiserver's RequestInfo reads it. */
export interface RequestInfo {
  isResourceRequest: boolean;
  /** URL path without the query, decoded. */
  path: string;
  /** API verb (get, list, watch, create, update, patch, delete, deletecollection); for non-resource paths the method in lower case. */
  verb: string;
  apiPrefix: string;
  apiGroup: string;
  apiVersion: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  /** The path's parts from the resource on. */
  parts: readonly string[];
  /** Unparsed selectors of list, watch and deletecollection requests. */
  fieldSelector?: string;
  labelSelector?: string;
}

/** A query's values by name, in order. */
export type QueryValues = ReadonlyMap<string, readonly string[]>;

const namespaceSubresources = new Set(['status', 'finalize']);
const verbsWithSelectors = new Set(['list', 'watch', 'deletecollection']);
const verbOfMethod = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/**
 * Reads a request line. Nothing is normalised: `..` and empty segments stay what they are, an escaped slash separates,
 * so whoever routes must go by this result and not by the URL.
 * @throws StatusError 400 for a path that cannot be decoded, 500 (as the kube-apiserver has it) for `…/watch` and `…/proxy` alone
 */
export const requestInfoOf = (method: string, url: string): RequestInfo => {
  const { path, query } = splitTarget(url);
  const info: RequestInfo = { ...nothing, path, verb: method.toLowerCase() };
  const parts = segmentsOf(path);
  const prefix = parts[0] ?? '';
  const grouped = prefix === 'apis';
  if (parts.length < 3 || !(grouped || prefix === 'api')) return info;
  info.apiPrefix = prefix;
  if (grouped && parts.length < 4) return info;
  info.isResourceRequest = true;
  if (grouped) info.apiGroup = parts[1]!;
  info.apiVersion = parts[grouped ? 2 : 1]!;

  let rest = parts.slice(grouped ? 3 : 2);
  const verbInPath = rest[0] === 'watch' || rest[0] === 'proxy';
  if (verbInPath) {
    if (rest.length < 2) throw StatusError.internal(`failed to create RequestInfo: unable to determine kind and namespace from url, ${url}`);
    info.verb = rest[0]!;
    rest = rest.slice(1);
  } else {
    info.verb = verbOfMethod.get(method) ?? '';
  }

  if (rest[0] === 'namespaces' && rest.length > 1) {
    info.namespace = rest[1]!;
    if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2);
  }
  info.parts = rest;
  info.resource = rest[0] ?? '';
  info.name = rest[1] ?? '';
  if (info.verb !== 'proxy') info.subresource = rest[2] ?? '';

  const values = query === '' ? noValues : queryValues(query);
  if (info.name === '' && info.verb === 'get') {
    info.verb = wantsWatch(values) ? 'watch' : 'list';
    info.name = nameInSelector(values);
  }
  if (info.name === '' && info.verb === 'delete') info.verb = 'deletecollection';
  if (!verbInPath && verbsWithSelectors.has(info.verb)) {
    info.fieldSelector = values.get('fieldSelector')?.[0];
    info.labelSelector = values.get('labelSelector')?.[0];
  }
  return info;
};

/** The query of a request target, read as Go's net/url does: what cannot be decoded, and what holds a semicolon, is left out. */
export const queryOf = (url: string): QueryValues => queryValues(splitQuery(url)[1]);

const nothing: Omit<RequestInfo, 'path' | 'verb'> = {
  isResourceRequest: false,
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
};
const noValues: QueryValues = new Map();

const splitQuery = (url: string): [target: string, query: string] => {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
};

const splitTarget = (url: string): { path: string; query: string } => {
  const [target, query] = splitQuery(url);
  const escaped = target.startsWith('/') ? target : pathOfAbsolute(target);
  const path = unescape(escaped);
  if (path === undefined) throw StatusError.badRequest(`the path of the URL holds an invalid escape: ${escaped}`);
  return { path, query };
};

/** The path of an absolute-form target (`https://host/path`), or the target of `OPTIONS *`. */
const pathOfAbsolute = (target: string): string => /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*(.*)$/.exec(target)?.[1] ?? target;

const segmentsOf = (path: string): string[] => {
  const trimmed = path.replace(/^\/+/, '').replace(/(?<!\/)\/+$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
};

/** Percent-decoding; bytes that are no UTF-8 become U+FFFD. Undefined where an escape is malformed. */
const unescape = (text: string): string | undefined => {
  if (!text.includes('%')) return text;
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const bytes = text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
  return bytes;
};

const queryValues = (query: string): QueryValues => {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const at = pair.indexOf('=');
    const name = unescape((at === -1 ? pair : pair.slice(0, at)).replaceAll('+', ' '));
    const value = unescape((at === -1 ? '' : pair.slice(at + 1)).replaceAll('+', ' '));
    if (name === undefined || value === undefined) continue;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
};

const wantsWatch = (values: QueryValues): boolean => {
  const text = values.get('watch')?.[0];
  return text !== undefined && text !== '0' && text.toLowerCase() !== 'false';
};

/** The name that a list's field selector pins down; none where any of the list's options cannot be read. */
const nameInSelector = (values: QueryValues): string => {
  const selector = values.get('fieldSelector')?.[0];
  if (!selector?.includes('metadata.name')) return '';
  let requirements: FieldRequirement[];
  try {
    requirements = parseFieldSelector(selector);
    parseLabelSelector(values.get('labelSelector')?.[0] ?? '');
  } catch {
    return '';
  }
  if (!['timeoutSeconds', 'limit'].every((option) => isInteger(values.get(option)?.[0]))) return '';
  const name = exactMatch(requirements, 'metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
};

const isInteger = (text: string | undefined): boolean => text === undefined || /^[+-]?\d+$/.test(text);
